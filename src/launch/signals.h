// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <signal.h>

#include <vector>

namespace stapgen::launch {

/// The signals by which a user asks us to end: SIGINT, SIGTERM, and SIGHUP unless it is ignored, as under nohup.
inline std::vector<int> ending_signals() {
    struct sigaction current {};
    ::sigaction(SIGHUP, nullptr, &current);
    if (current.sa_handler == SIG_IGN) return {SIGINT, SIGTERM};
    return {SIGINT, SIGTERM, SIGHUP};
}

/// As long as it lives, writing to a closed stdout is an error to be handled, not our end.
class IgnoredPipeSignal {
  public:
    IgnoredPipeSignal() : before_(::signal(SIGPIPE, SIG_IGN)) {}
    IgnoredPipeSignal(const IgnoredPipeSignal&) = delete;
    IgnoredPipeSignal& operator=(const IgnoredPipeSignal&) = delete;
    ~IgnoredPipeSignal() { ::signal(SIGPIPE, before_); }

  private:
    void (*before_)(int);
};

}  // namespace stapgen::launch
