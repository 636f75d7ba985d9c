// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/run.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "host/facts.h"
#include "launch/module_file.h"

namespace stapgen::launch {

namespace fs = std::filesystem;

namespace {

MessageContext context_of(const host::Target& target) {
    return {target.release, host::command_here(host::install_headers(target.release), target.distribution),
            host::command_here(host::install_debuginfo(target.release), target.distribution), false};
}

/// Remembers what a child wrote on stderr, for the log of a failure.
class Transcript {
  public:
    void add(std::string_view line) {
        constexpr std::size_t limit = 1024 * 1024;
        if (text_.size() + line.size() < limit) {
            text_.append(line).append(1, '\n');
        } else {
            ++left_out_;
        }
    }

    /// Writes it down and says where, or why not, as a sentence for a hint.
    [[nodiscard]] std::string keep(const Command& command, const fs::path& cache) const {
        const auto file = cache / "last-failure.log";
        auto text = base::shell_quoted(command.argv) + "\n\n" + text_;
        if (left_out_ > 0) text += fmt::format("({} more lines)\n", left_out_);
        base::make_cache(cache);
        if (const auto kept = base::replace_file(file, text); !kept) {
            return "SystemTap's output was not saved (" + kept.error().what + "): print it with -v";
        }
        return "SystemTap's output is in " + file.string();
    }

  private:
    std::string text_;
    std::size_t left_out_ = 0;
};

/// The hint for a child whose exit status is all that is known.
std::string remedy_for(const Ending& ending, int pass) {
    constexpr int writing_c = 3;
    switch (ending.signal) {
        case 0:
            // Where stap cannot write the C that it makes, it says nothing.
            return pass == writing_c ? "check the free space of $TMPDIR (or /tmp), and ulimit -f"
                                     : "run it again with -v to see its output";
        case SIGKILL:
            return "it was killed, perhaps by the kernel for lack of memory (see dmesg): run it again";
        case SIGINT:
        case SIGTERM:
        case SIGHUP:
            return "it was terminated: run it again";
        case SIGXFSZ:
            return "a file exceeded the allowed size: see ulimit -f";
        default:
            return "it crashed: run it again; if it crashes each time, try another version of SystemTap";
    }
}

/// Why it failed, as far as that is known.
std::string reason_of(const Ending& ending, const MessageReader& messages) {
    if (const auto* cause = messages.cause(); cause != nullptr) return cause->cause;
    if (ending.signal == 0) return fmt::format("it ended with exit code {}", ending.exit_code);
    return fmt::format("it was ended by signal {} ({})", ending.signal, ::strsignal(ending.signal));
}

base::Error failure_of(std::string_view doing, const Ending& ending, const MessageReader& messages,
                       const std::string& log, const Explanation& explanation) {
    base::Error error;
    const auto* cause = messages.cause();
    error.what = fmt::format("{}: {}", doing, reason_of(ending, messages));
    error.hint = cause != nullptr ? cause->remedy : remedy_for(ending, messages.pass());
    if (cause != nullptr) error.kind = error_kind(cause->level);
    error.hint += (error.hint.empty() ? "" : "; ") + log;
    if (cause != nullptr && explanation) error.hint += explanation(cause->checks);
    return error;
}

/// Sees to it that the module of a run is out of the kernel.
void clean_up(const host::System& system, const LoadJob& job, const std::string& plain_name, bool was_there,
              LoadEnd& end) {
    const auto name = job.options.is_signed ? plain_name : loaded_name(plain_name, end.ending.pid);
    // A name that was not changed may be another user's run.
    if (name == plain_name && was_there) return;
    const auto loaded = [&] { return host::is_loaded(system, name); };
    if (!loaded()) return;
    Command command{unload_argv(job.target.staprun, name), job.environment, {}, {}};
    const auto unloaded = output_of(command);
    if (!loaded()) {
        end.cleanup.push_back(fmt::format("the module {} was left in the kernel; stapgen removed it", name));
        return;
    }
    const auto said = unloaded ? std::string() : unloaded.error().hint;
    end.cleanup.push_back(
        fmt::format("the module {} is still in the kernel and could not be removed{}; try: sudo staprun -d {}", name,
                    said.empty() ? "" : " (" + base::printable(base::trim(said)) + ")", name));
}

/// Each CPU's share of the same message is one to the user.
std::vector<Diagnosis> each_once(const std::vector<Diagnosis>& diagnoses) {
    std::vector<Diagnosis> once;
    for (const auto& diagnosis : diagnoses) {
        if (std::ranges::find(once, diagnosis.cause, &Diagnosis::cause) == once.end()) once.push_back(diagnosis);
    }
    return once;
}

}  // namespace

Command compile_command(const CompileJob& job) {
    Command command{compile_argv(job.target, job.options), job.environment, job.mounts, {}};
    command.environment.emplace("SYSTEMTAP_DIR", (job.cache / "systemtap").string());
    // Without a usable cache stap leaves the module in the working folder.
    command.working_directory = job.cache / "work";
    return command;
}

base::Result<Compiled> compile(const CompileJob& job) {
    const auto command = compile_command(job);
    std::error_code error;
    // A folder may have been filled by those who can write it.
    if (fs::exists(job.cache, error) && ::geteuid() == 0) {
        if (auto trusted = base::only_root_writes(job.cache); !trusted) {
            trusted.error().hint = "set XDG_CACHE_HOME to a folder that only root may write";
            return tl::make_unexpected(trusted.error());
        }
    }
    base::make_cache(job.cache);
    fs::create_directories(command.working_directory, error);
    fs::create_directories(job.cache / "systemtap", error);
    if (error) {
        return base::failed(fmt::format("cannot make {}: {}", (job.cache / "systemtap").string(), error.message()),
                            "set XDG_CACHE_HOME to a writable folder");
    }

    MessageReader messages(context_of(job.target));
    Transcript transcript;
    std::string module;
    auto handlers = job.timing;
    handlers.output = [&](Line line, Control&) {
        transcript.add(line.text);
        // kbuild may talk on stdout as well; the module's path is the last thing stap says there.
        if (line.text.ends_with(".ko")) module = line.text;
    };
    handlers.error = [&](Line line, Control&) {
        transcript.add(line.text);
        messages.line(line.text);
        const auto over = parse_pass_line(line.text);
        if (job.progress != nullptr && over) job.progress->pass_over(*over, Progress::Clock::now());
        if (job.progress != nullptr && job.stap_said) job.progress->clear();
        if (job.stap_said) job.stap_said(line.text);
    };
    handlers.tick = [&](Control&) {
        if (job.progress != nullptr) job.progress->tick(Progress::Clock::now());
    };

    const auto ending = run_child(command, handlers);
    if (job.progress != nullptr) job.progress->clear();
    STAPGEN_TRY(ending);
    const auto pass = fmt::format("pass {} ({})", messages.pass(), pass_name(messages.pass()));
    if (ending->interrupted) return base::failed("interrupted in stap's " + pass + "; nothing was measured");
    if (!ending->clean()) {
        auto why = failure_of("stap failed in " + pass, *ending, messages, transcript.keep(command, job.cache),
                              job.explanation);
        // Where the script was is nowhere to look.
        const auto folder = job.options.script.parent_path().string() + "/";
        for (auto at = why.what.find(folder); at != std::string::npos; at = why.what.find(folder))
            why.what.erase(at, folder.size());
        return tl::make_unexpected(std::move(why));
    }
    if (module.empty()) {
        return base::failed("stap succeeded but named no module", transcript.keep(command, job.cache));
    }
    Compiled compiled;
    compiled.module = command.working_directory / module;  // an absolute path stays what it is
    if (!fs::exists(compiled.module, error)) {
        // It goes on without its cache, and only says so.
        return tl::make_unexpected(failure_of("stap succeeded but its module cannot be found", *ending, messages,
                                              transcript.keep(command, job.cache), {}));
    }
    std::ranges::copy_if(messages.diagnoses(), std::back_inserter(compiled.warnings),
                         [](const Diagnosis& diagnosis) { return diagnosis.kind == MessageKind::warning; });
    return compiled;
}

Command load_command(const LoadJob& job) {
    Command command{load_argv(job.target.staprun, job.options), job.environment, {}, {}};
    command.environment.emplace("SYSTEMTAP_DIR", (job.cache / "systemtap").string());
    return command;
}

base::Result<LoadEnd> load(const host::System& system, const LoadJob& job) {
    const auto command = load_command(job);
    const auto plain_name = job.options.module.stem().string();
    const bool was_there = host::is_loaded(system, plain_name);

    auto context = context_of(job.target);
    context.is_built = job.is_built;
    MessageReader messages(std::move(context));
    Transcript transcript;
    bool any_output = false;
    auto handlers = job.handlers;
    handlers.output = [&](Line line, Control& control) {
        if (!any_output && job.loaded) job.loaded();
        any_output = true;
        if (job.handlers.output) job.handlers.output(line, control);
    };
    handlers.error = [&](Line line, Control& control) {
        transcript.add(line.text);
        messages.line(line.text);
        if (job.handlers.error) job.handlers.error(line, control);
    };

    // To the end of clean_up(): a user who asks again while the module is taken out may not end us.
    const base::HeededSignals heeded;
    STAPGEN_LET(const auto ending, run_child(command, handlers));
    LoadEnd end;
    end.ending = ending;
    end.losses = messages.losses();
    end.messages = each_once(messages.diagnoses());
    clean_up(system, job, plain_name, was_there, end);
    // A run that we ended is not a failure: the user wanted it. staprun takes SIGINT as its end until stapio
    // has come so far as to listen.
    const bool ended_by_us = ending.gave_up || (ending.signal == SIGINT && (ending.interrupted || ending.was_stopped));
    if (!ending.clean() && !ended_by_us) {
        auto error = failure_of("the measurement failed", ending, messages, transcript.keep(command, job.cache),
                                job.explanation);
        if (!any_output) {
            for (const auto& line : end.cleanup)
                error.hint += "; " + line;
            return tl::make_unexpected(std::move(error));
        }
        end.failure = std::move(error);
        // The failure says it.
        if (const auto* cause = messages.cause()) {
            std::erase_if(end.messages, [&](const Diagnosis& message) { return message.id == cause->id; });
        }
        // Errors in probes that the script may have (MAXERRORS) are reported at the end, too.
        if (!ending.interrupted && !ending.was_stopped) end.broke_off = reason_of(ending, messages);
    }
    return end;
}

}  // namespace stapgen::launch
