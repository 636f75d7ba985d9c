// SPDX-License-Identifier: GPL-2.0-or-later
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/process.h"
#include "launch/child_process.h"

namespace stapgen::launch {

namespace {

class OwnControl final : public Control {
  public:
    void request_stop() override { asked = true; }
    [[nodiscard]] bool ending() const override { return asked; }
    [[nodiscard]] pid_t pid() const override { return ::getpid(); }
    bool asked = false;
};

}  // namespace

Ending count(host::CounterLines& lines, std::chrono::milliseconds interval, const Handlers& handlers) {
    using Clock = std::chrono::steady_clock;
    // Those of an impatient user are taken, too, as long as it lives: the end has come already.
    const base::HeededSignals signals;
    OwnControl control;
    Ending ending;
    ending.pid = control.pid();
    const auto hand_out = [&](const std::vector<std::string>& printed) {
        for (const auto& line : printed) {
            if (handlers.output) handlers.output({line, false}, control);
        }
    };
    hand_out(lines.begin());
    auto next = interval.count() > 0 ? Clock::now() + interval : Clock::time_point::max();
    while (!control.asked) {
        std::this_thread::sleep_until(std::min(next, Clock::now() + handlers.tick_period));
        ending.interrupted = signals.count() > 0;
        if (ending.interrupted) break;
        if (Clock::now() >= next) {
            hand_out(lines.tick());
            // Where reading takes longer than an interval there are fewer of them.
            next = std::max(next + interval, Clock::now());
        }
        if (handlers.tick) handlers.tick(control);
    }
    ending.was_stopped = control.asked;
    hand_out(lines.end());
    if (handlers.ended) handlers.ended();
    return ending;
}

}  // namespace stapgen::launch
