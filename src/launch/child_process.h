// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/counter_lines.h"
#include "host/system.h"
#include "host/workarounds.h"

namespace stapgen::launch {

/// A program to start. No shell is ever involved.
struct Command {
    std::vector<std::string> argv{};
    /// Beside what every child gets (see child_environment); an empty value removes the variable.
    std::map<std::string, std::string> environment{};
    std::vector<host::BindMount> mounts{};  ///< seen by this child and its children only
    std::filesystem::path working_directory{};
    /// Its stdin is a pipe, for Control::write(), whose end is how it is asked to end; else it has none and SIGINT is.
    bool takes_input = false;
};

/// One line without its line end. A line longer than 1 MiB is cut there; one whose end never came is cut, too.
struct Line {
    std::string_view text;
    bool cut = false;
};

/// Control of the running child, for a callback.
class Control {
  public:
    virtual ~Control() = default;
    /// As one Ctrl-C: the child is asked to end, its last output still arrives. Harmless if repeated.
    virtual void request_stop() = 0;
    /// The same, and it is made to end after that time, however much it writes; 0: at once.
    virtual void stop_within(std::chrono::milliseconds /*time*/) { request_stop(); }
    /// Whether it was asked to end, by whomever.
    [[nodiscard]] virtual bool ending() const = 0;
    [[nodiscard]] virtual pid_t pid() const = 0;
    /// To its stdin, as fast as it reads. Of a child that takes no input: nothing.
    virtual void write(std::string /*text*/) {}
};

/// All are called in the thread that called run_child; any may be empty.
struct Handlers {
    std::function<void(Control&)> started{};
    std::function<void(Line, Control&)> output{};
    std::function<void(std::string_view bytes, Control&)> bytes{};  ///< instead of `output`: what came, as it came
    std::function<void(Line, Control&)> error{};
    std::function<void(std::size_t bytes, Control&)> error_bytes{};  ///< before `error`: how many came, line or not
    std::function<void(Control&)> tick{};
    std::function<void()> stopping{};  ///< it is about to be asked to end, for the first time
    std::function<void()> ended{};     ///< after the last line, while signals are still ours
    std::chrono::milliseconds tick_period{100};
    /// A child asked to end that is silent for this long is made to.
    std::chrono::milliseconds stop_timeout{30000};
    std::chrono::milliseconds kill_after{2000};  ///< from SIGTERM to SIGKILL
    std::chrono::milliseconds drain{500};        ///< from exit to giving up on open pipes
    bool handles_signals = true;                 ///< else the caller does, or they end us
};

/// How a child ended.
struct Ending {
    pid_t pid = 0;
    int exit_code = 0;         ///< meaningless if signal != 0
    int signal = 0;            ///< the one that killed it
    bool interrupted = false;  ///< the user pressed Ctrl-C (or we got SIGTERM or SIGHUP)
    bool was_stopped = false;  ///< request_stop was called
    bool gave_up = false;      ///< it did not end when asked, and was killed

    [[nodiscard]] bool clean() const { return signal == 0 && exit_code == 0; }
};

/// Starts the command, hands out its lines, forwards signals, and returns when it has ended. An error means
/// that it could not be started. While it runs, SIGINT, SIGTERM and SIGHUP are heeded: the first asks the child
/// to end, the second gives up. A handler that throws ends the child in order, and run_child() throws the same.
base::Result<Ending> run_child(const Command& command, const Handlers& handlers);

/// counting.cpp. Hands out what `lines` prints, as run_child() hands out what a child prints: begin() at once, tick()
/// at every interval (0: none), end() when a handler has asked for it or the user has: while it runs, SIGINT, SIGTERM
/// and SIGHUP are heeded. Of the handlers `output`, `tick` and `ended` are called.
Ending count(host::CounterLines& lines, std::chrono::milliseconds interval, const Handlers& handlers);

/// The environment of every child: nothing of the caller's but a few harmless things.
std::map<std::string, std::string> child_environment();

/// Runs a short command and returns stdout and stderr together. An exit code other than 0 is an error, with
/// what was printed as its hint; so is taking longer than `limit`.
base::Result<std::string> output_of(const Command& command, std::chrono::milliseconds limit = std::chrono::seconds(20));

/// The machine we run on, for host::inspect.
std::unique_ptr<host::System> this_machine();

}  // namespace stapgen::launch
