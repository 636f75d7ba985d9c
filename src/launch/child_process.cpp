// SPDX-License-Identifier: GPL-2.0-or-later
// How a child is run, in one loop with four sources of events: its two pipes, its end, our signals, and a
// clock. What makes it hard:
//
// - The pipes are not the process. A grandchild may keep them open after the child has ended, and the child
//   may close them and go on. The loop ends when the child has ended AND both pipes have, or the `drain` time
//   has passed; what is in the pipes by then is still taken.
// - Asking must reach the right one. SIGINT goes to the child's pid, not to its group: stap itself passes it
//   on to the compiler it started, and stapio ends its module's probes and runs `staprun -d` in the same group.
//   stap and stapio both end in order on the first SIGINT, and take up to two without harm.
// - Not every child listens. After `stop_timeout` without a sign of life, or on the user's second signal, the
//   group gets SIGTERM and `kill_after` later SIGKILL. A module that is left in the kernel by that is
//   load()'s business.
// - Boost.Process 1.74: limit_handles closes our own pipes, exit_code() mixes up signals and codes,
//   child::wait_for steals SIGCHLD from Asio, terminate() is SIGKILL, and environment reads past the ends of
//   its strings. None is used.

#include "launch/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <boost/asio.hpp>
#include <boost/version.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>

#include "base/process.h"
#include "base/text.h"
#include "launch/child_setup.h"
#include "launch/line_splitter.h"

// Boost 1.86 has moved this Boost.Process into a namespace v1. Its v2 cannot say what a child does between fork and
// exec on Boost 1.74.
#if BOOST_VERSION >= 108600
#include <boost/process/v1/args.hpp>
#include <boost/process/v1/async.hpp>
#include <boost/process/v1/async_pipe.hpp>
#include <boost/process/v1/child.hpp>
#include <boost/process/v1/error.hpp>
#include <boost/process/v1/exe.hpp>
#include <boost/process/v1/extend.hpp>
#include <boost/process/v1/io.hpp>
namespace bp = boost::process::v1;
#else
#include <boost/process/args.hpp>
#include <boost/process/async.hpp>
#include <boost/process/async_pipe.hpp>
#include <boost/process/child.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
namespace bp = boost::process;
#endif

namespace stapgen::launch {

namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// Between making a pipe and closing its other end, no other thread starts a child, which would have it too.
std::mutex& starting() {
    static std::mutex mutex;
    return mutex;
}

void keep_from_children(bp::async_pipe& pipe) {
    for (const int fd : {pipe.native_source(), pipe.native_sink()})
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/// One of the child's two output streams.
class Stream {
  public:
    using Bytes = std::function<void(std::string_view)>;
    /// `bytes`, if it is not empty, gets what comes: before `sink`, or instead of it.
    Stream(asio::io_context& context, LineSplitter::Sink sink, Bytes bytes, bool has_lines)
        : pipe(context), lines_(std::move(sink)), bytes_(std::move(bytes)), has_lines_(has_lines) {
        keep_from_children(pipe);
    }

    template <class OnEnd, class OnData>
    void read(OnEnd on_end, OnData on_data) {
        pipe.async_read_some(asio::buffer(buffer_),
                             [this, on_end, on_data](const boost::system::error_code& error, std::size_t count) {
                                 feed({buffer_.data(), count});
                                 if (error) {
                                     if (error != asio::error::operation_aborted) finish();
                                     on_end();
                                 } else {
                                     on_data();
                                     read(on_end, on_data);
                                 }
                             });
    }

    /// The bytes in the pipe now, without waiting. Bounded, for another process may still be writing.
    void take_rest() {
        if (ended_) return;
        const int fd = pipe.native_source();
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
        std::size_t taken = 0;
        while (taken < 2 * 1024 * 1024) {
            const auto count = ::read(fd, buffer_.data(), buffer_.size());
            if (count <= 0) break;
            taken += static_cast<std::size_t>(count);
            feed({buffer_.data(), static_cast<std::size_t>(count)});
        }
        finish();
    }

    [[nodiscard]] bool ended() const { return ended_; }

    bp::async_pipe pipe;

  private:
    void feed(std::string_view bytes) {
        if (bytes_) bytes_(bytes);
        if (has_lines_) lines_.feed(bytes);
    }
    void finish() {
        lines_.finish();
        ended_ = true;
    }

    LineSplitter lines_;
    Bytes bytes_;
    bool has_lines_;
    std::array<char, 64 * 1024> buffer_{};
    bool ended_ = false;
};

/// The child's stdin.
class Input {
  public:
    explicit Input(asio::io_context& context) : pipe(context) { keep_from_children(pipe); }

    void write(std::string text) {
        if (closing_) return;
        waiting_.push_back(std::move(text));
        if (waiting_.size() == 1) write_next();
    }
    /// Once all is written.
    void close() {
        closing_ = true;
        if (waiting_.empty()) pipe.close();
    }

    bp::async_pipe pipe;

  private:
    void write_next() {
        asio::async_write(pipe, asio::buffer(waiting_.front()), [this](const boost::system::error_code& error, auto) {
            // Whoever reads no more says why on stderr, or by how it ends.
            if (error) return;
            waiting_.pop_front();
            if (!waiting_.empty()) {
                write_next();
            } else if (closing_) {
                pipe.close();
            }
        });
    }

    std::deque<std::string> waiting_;
    bool closing_ = false;
};

class Loop final : public Control {
  public:
    Loop(const Command& command, const Handlers& handlers)
        : command_(command),
          handlers_(handlers),
          input_(context_),
          output_(
              context_, [this](auto line, bool cut) { hand_out(handlers_.output, line, cut); }, bytes_handler(),
              !handlers.bytes),
          error_(
              context_, [this](auto line, bool cut) { hand_out(handlers_.error, line, cut); }, error_counter(), true),
          tick_(context_),
          drain_(context_) {
        if (handlers.handles_signals) signals_.emplace();
    }

    base::Result<void> start();
    /// Until it has ended.
    Ending run();

    void request_stop() override {
        if (ending_.was_stopped || exited_) return;
        ending_.was_stopped = true;
        if (!asked_) ask();
    }
    void stop_within(std::chrono::milliseconds time) override {
        request_stop();
        give_up_at_ = std::min(give_up_at_, Clock::now() + time);
    }
    [[nodiscard]] bool ending() const override { return asked_ || exited_; }
    [[nodiscard]] pid_t pid() const override { return ending_.pid; }
    void write(std::string text) override {
        if (command_.takes_input && !exited_) input_.write(std::move(text));
    }

  private:
    void heed_signals();
    void on_tick();
    void on_exit();
    void ask();
    void give_up();
    void kill_group();
    void end_if_drained();

    /// A handler that throws ends the run, but in order, so that no module is left behind.
    template <class Function>
    void guarded(Function function) {
        try {
            function();
        } catch (...) {
            if (!thrown_) thrown_ = std::current_exception();
            stop_within(handlers_.stop_timeout);
        }
    }
    /// Output after a handler has thrown is nobody's.
    void hand_out(const std::function<void(Line, Control&)>& handler, std::string_view line, bool cut) {
        if (handler && !thrown_) guarded([&] { handler(Line{line, cut}, *this); });
    }

    Stream::Bytes bytes_handler() {
        if (!handlers_.bytes) return {};
        return [this](std::string_view bytes) {
            if (!thrown_) guarded([&] { handlers_.bytes(bytes, *this); });
        };
    }

    Stream::Bytes error_counter() {
        if (!handlers_.error_bytes) return {};
        return [this](std::string_view bytes) {
            if (!thrown_) guarded([&] { handlers_.error_bytes(bytes.size(), *this); });
        };
    }

    const Command& command_;
    const Handlers& handlers_;
    asio::io_context context_;
    Input input_;
    Stream output_;
    Stream error_;
    std::optional<base::HeededSignals> signals_;
    int heeded_ = 0;  ///< of them
    asio::steady_timer tick_;
    asio::steady_timer drain_;

    bp::child child_;
    Ending ending_;
    bool exited_ = false;
    bool asked_ = false;
    std::exception_ptr thrown_;  ///< by a handler
    Clock::time_point last_sign_of_life_;
    Clock::time_point give_up_at_ = Clock::time_point::max(), kill_at_ = Clock::time_point::max();
    bool killed_ = false;
};

base::Result<void> Loop::start() {
    auto environment = child_environment();
    for (const auto& [name, value] : command_.environment)
        environment[name] = value;
    std::vector<std::string> entries;
    for (const auto& [name, value] : environment) {
        if (!value.empty()) entries.push_back(name + "=" + value);
    }
    std::vector<char*> for_child;
    for (auto& entry : entries)
        for_child.push_back(entry.data());
    for_child.push_back(nullptr);

    const auto cannot_start = [](const std::string& program, const std::string& why) {
        return base::cannot_here(fmt::format("cannot start {}: {}", program, why),
                                 "install it, or give the path of the one to use");
    };
    const auto program = host::real_system()->find_program(command_.argv.at(0));
    if (!program) return cannot_start(command_.argv[0], "there is no such program");

    ChildSetup setup(command_);
    std::error_code error;
    pid_t failed_pid = 0;
    const auto start_with = [&](auto&& input) {
        return bp::child(
            bp::exe = program->string(),
            bp::args = std::vector<std::string>(command_.argv.begin() + 1, command_.argv.end()), input,
            (bp::std_out > output_.pipe), (bp::std_err > error_.pipe), context_, error,
            bp::extend::on_setup = [&](auto& executor) { executor.env = for_child.data(); },
            bp::extend::on_exec_setup = [&](auto&) { setup.run(); },
            bp::extend::on_error = [&](auto& executor, const std::error_code&) { failed_pid = executor.pid; },
            bp::on_exit = [this](int, const std::error_code&) { on_exit(); });
    };
    auto child = command_.takes_input ? start_with(bp::std_in < input_.pipe) : start_with(bp::std_in < bp::null);
    if (error) {
        // Boost does not reap a child whose exec failed.
        if (failed_pid > 0) ::waitpid(failed_pid, nullptr, 0);
        return cannot_start(program->string(), error.message());
    }
    // Where its own pipe(2) fails Boost sets no error. Its child has the number -1 then: to kill(2) that is everybody.
    if (child.id() <= 0) return cannot_start(program->string(), std::strerror(EMFILE));
    if (auto prepared = setup.failure(); !prepared) {
        ::waitpid(child.id(), nullptr, 0);
        child.detach();
        return prepared;
    }
    ending_.pid = child.id();
    child_ = std::move(child);
    return {};
}

void Loop::heed_signals() {
    while (signals_ && heeded_ < signals_->count()) {
        ++heeded_;
        if (ending_.gave_up) {
            kill_group();
        } else if (ending_.interrupted) {
            give_up();
        } else {
            ending_.interrupted = true;
            if (!asked_) ask();
        }
    }
}

void Loop::on_tick() {
    tick_.expires_after(handlers_.tick_period);
    tick_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;
        heed_signals();
        const auto now = Clock::now();
        // Also after another one has thrown: it may be what asks the child to end.
        if (handlers_.tick && !exited_) guarded([&] { handlers_.tick(*this); });
        const bool is_silent = asked_ && now - last_sign_of_life_ > handlers_.stop_timeout;
        if (!ending_.gave_up && (is_silent || now >= give_up_at_)) give_up();
        if (now >= kill_at_) {
            // Killed already and still there: it hangs in the kernel, and nobody can help it.
            if (killed_) return context_.stop();
            kill_group();
        }
        on_tick();
    });
}

void Loop::ask() {
    asked_ = true;
    last_sign_of_life_ = Clock::now();
    if (exited_) return;
    if (handlers_.stopping) guarded(handlers_.stopping);
    if (command_.takes_input) {
        input_.close();
    } else {
        ::kill(ending_.pid, SIGINT);
    }
}

void Loop::give_up() {
    if (exited_) return;
    asked_ = true;
    ending_.gave_up = true;
    ::kill(-ending_.pid, SIGTERM);
    kill_at_ = Clock::now() + handlers_.kill_after;
}

void Loop::kill_group() {
    if (exited_) return;
    ::kill(-ending_.pid, SIGKILL);
    killed_ = true;
    kill_at_ = Clock::now() + 10 * handlers_.kill_after;
}

void Loop::on_exit() {
    const int status = child_.native_exit_code();
    exited_ = true;
    kill_at_ = Clock::time_point::max();
    if (WIFSIGNALED(status)) {
        ending_.signal = WTERMSIG(status);
    } else {
        ending_.exit_code = WEXITSTATUS(status);
    }
    // The processes that the child left of its group have been asked as well, and are not waited for. One that was
    // killed had no time to end what it had started: stap leaves a compiler.
    if (ending_.gave_up || ending_.signal != 0) ::kill(-ending_.pid, SIGKILL);
    drain_.expires_after(handlers_.drain);
    drain_.async_wait([this](const boost::system::error_code& error) {
        if (!error) context_.stop();
    });
    end_if_drained();
}

void Loop::end_if_drained() {
    if (exited_ && output_.ended() && error_.ended()) context_.stop();
}

Ending Loop::run() {
    for (auto* stream : {&output_, &error_}) {
        // A burst of records should find room here rather than wait in the kernel, where it gets lost.
        ::fcntl(stream->pipe.native_source(), F_SETPIPE_SZ, 1024 * 1024);
        stream->read([this] { end_if_drained(); }, [this] { last_sign_of_life_ = Clock::now(); });
    }
    if (handlers_.started) guarded([&] { handlers_.started(*this); });
    on_tick();
    context_.run();
    output_.take_rest();
    error_.take_rest();
    heed_signals();
    if (handlers_.ended) guarded(handlers_.ended);
    if (!exited_) ending_.signal = SIGKILL;
    child_.detach();
    if (thrown_) std::rethrow_exception(thrown_);
    return ending_;
}

}  // namespace

base::Result<Ending> run_child(const Command& command, const Handlers& handlers) {
    std::unique_ptr<Loop> loop;
    try {
        const std::scoped_lock lock(starting());
        // On the heap for its read buffers.
        loop = std::make_unique<Loop>(command, handlers);
        STAPGEN_TRY(loop->start());
    } catch (const std::exception& error) {
        // Errors of Boost's libraries: a pipe, an event loop or a process more than there may be.
        return base::failed(fmt::format("cannot start {}: {}", command.argv.at(0), error.what()),
                            "raise the limit that was reached: ulimit -n for open files, ulimit -u for processes");
    }
    return loop->run();
}

base::Result<std::string> output_of(const Command& command, std::chrono::milliseconds limit) {
    std::string text;
    const auto collect = [&](Line line, Control&) {
        if (text.size() < 1024 * 1024) text.append(line.text).append(1, '\n');
    };
    Handlers handlers;
    handlers.output = collect;
    handlers.error = collect;
    const auto deadline = Clock::now() + limit;
    handlers.tick = [&](Control& control) {
        if (Clock::now() > deadline) control.request_stop();
    };
    handlers.stop_timeout = std::chrono::seconds(1);
    // Nobody would know what it means that a question was not answered: whoever asks it is ended.
    handlers.handles_signals = false;
    STAPGEN_LET(const auto ending, run_child(command, handlers));
    if (ending.clean()) return text;
    if (ending.was_stopped) {
        return base::failed(fmt::format("{} did not end in time", base::shell_quoted(command.argv)), text);
    }
    const auto how = ending.signal != 0 ? fmt::format("was ended by signal {}", ending.signal)
                                        : fmt::format("failed with exit code {}", ending.exit_code);
    return base::failed(fmt::format("{} {}", base::shell_quoted(command.argv), how), text);
}

std::unique_ptr<host::System> this_machine() {
    return host::real_system([](const std::vector<std::string>& argv) {
        // stap makes this folder, and a cache in it, even to print its version; one that cannot be made it does
        // without.
        return output_of({argv, {{"SYSTEMTAP_DIR", "/dev/null"}}, {}, {}});
    });
}

}  // namespace stapgen::launch
