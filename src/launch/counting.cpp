#include "launch/counting.h"

#include <unistd.h>

#include <algorithm>

#include "launch/signals.h"

namespace stapgen::launch {

namespace {

using Clock = std::chrono::steady_clock;

/// Signals that ask us to end wait until they are fetched.
class Signals {
  public:
    Signals() {
        ::sigemptyset(&wanted_);
        for (const int number : ending_signals())
            ::sigaddset(&wanted_, number);
        ::pthread_sigmask(SIG_BLOCK, &wanted_, &before_);
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals() {
        // Those of an impatient user: the end has come already.
        while (wait_until(Clock::now())) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    /// Whether one came until then.
    [[nodiscard]] bool wait_until(Clock::time_point then) const {
        using namespace std::chrono;
        const auto left = std::max(nanoseconds(0), duration_cast<nanoseconds>(then - Clock::now()));
        const timespec time{duration_cast<seconds>(left).count(), (left % seconds(1)).count()};
        return ::sigtimedwait(&wanted_, nullptr, &time) > 0;
    }

  private:
    IgnoredPipeSignal pipe_;
    sigset_t wanted_{}, before_{};
};

class OwnControl final : public Control {
  public:
    void request_stop() override { asked = true; }
    [[nodiscard]] bool ending() const override { return asked; }
    [[nodiscard]] pid_t pid() const override { return ::getpid(); }
    bool asked = false;
};

}  // namespace

Ending count(host::CounterLines& lines, std::chrono::milliseconds interval, const Handlers& handlers) {
    const Signals signals;
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
    while (!control.asked && !ending.interrupted) {
        ending.interrupted = signals.wait_until(std::min(next, Clock::now() + handlers.tick_period));
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
