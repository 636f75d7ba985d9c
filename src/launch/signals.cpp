#include "launch/signals.h"

namespace stapgen::launch {

std::vector<int> ending_signals() {
    std::vector<int> signals{SIGINT, SIGTERM};
    struct sigaction current {};
    ::sigaction(SIGHUP, nullptr, &current);
    // Under nohup a hang-up is no reason to end.
    if (current.sa_handler != SIG_IGN) signals.push_back(SIGHUP);
    return signals;
}

}  // namespace stapgen::launch
