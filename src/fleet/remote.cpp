// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/exit_codes.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/units.h"

namespace stapgen::fleet {

namespace {

using Clock = std::chrono::steady_clock;
namespace limits = base::limits;
using std::chrono::milliseconds, std::chrono::seconds;

constexpr std::size_t kib = 1024;

/// The slowest line that a module is sent over.
constexpr std::size_t bytes_each_s = 32 * kib;

/// ssh's own failures: ssh(1), EXIT STATUS.
constexpr int of_ssh = 255;

std::string time_text(std::chrono::nanoseconds time) {
    return base::format_duration(time);
}

/// Nothing of this machine is lent to a host: no agent, no port, no display.
launch::Command ssh_command(const SshOptions& options, const std::string& host, const std::string& script) {
    const auto timeout = std::max<std::int64_t>(std::chrono::ceil<seconds>(options.connect_timeout).count(), 1);
    // A host that is gone is seen after 30 s; one that is only busy may take a while to answer.
    launch::Command command{{options.program, "-T", "-a", "-x", "-o", "BatchMode=yes", "-o",
                             fmt::format("ConnectTimeout={}", timeout), "-o", "ServerAliveInterval=10", "-o",
                             "ServerAliveCountMax=3", "-o", "ClearAllForwardings=yes"}};
    for (const auto& option : options.options)
        command.argv.insert(command.argv.end(), {"-o", option});
    command.argv.insert(command.argv.end(), {"--", host, base::shell_quoted({"sh", "-c", script})});
    for (const char* name : {"HOME", "SSH_AUTH_SOCK", "USER", "LOGNAME"}) {
        if (const char* value = std::getenv(name)) command.environment[name] = value;
    }
    command.takes_input = true;
    return command;
}

/// How it ended, where nothing else is known.
Answer<void> check(const base::Result<launch::Ending>& ending, const std::string& said, bool had_begun) {
    if (!ending) return tl::make_unexpected(Refusal{Refusal::Kind::cannot, short_reason(ending.error().what)});
    if (ending->clean()) return {};
    if (ending->gave_up)
        return tl::make_unexpected(
            Refusal{had_begun ? Refusal::Kind::lost : Refusal::Kind::failed, "it did not end when asked to"});
    if (ending->signal != 0 || ending->exit_code == of_ssh) {
        const auto why = short_reason(session::last_line_of(said));
        if (had_begun) return tl::make_unexpected(Refusal{Refusal::Kind::lost, "the connection was lost: " + why});
        return tl::make_unexpected(Refusal{Refusal::Kind::unreachable, why.empty() ? "ssh failed" : why});
    }
    using base::ErrorKind;
    const auto of_host = base::kind_of_exit_code(ending->exit_code).value_or(ErrorKind::failed);
    const auto kind = of_host == ErrorKind::cannot_here   ? Refusal::Kind::cannot
                      : of_host == ErrorKind::over_budget ? Refusal::Kind::over_budget
                                                          : Refusal::Kind::failed;
    return tl::make_unexpected(Refusal{kind, short_reason(session::reason_of(said))});
}

}  // namespace

SentFile sent_file(std::string_view name, std::string_view ending, std::string content) {
    constexpr std::size_t digits = 16;
    auto hash = base::sha256(content);
    return {fmt::format("{}-{}{}", name, hash.substr(0, digits), ending), std::move(content), std::move(hash)};
}

Answer<std::string> Remote::run(const std::string& script, std::string input, const Allowance& allowed) const {
    std::string output;
    // To grow it copies what came; room that nothing is written to takes no memory.
    output.reserve(allowed.bytes);
    session::Said said;
    std::optional<Refusal> broken;
    const auto deadline = Clock::now() + allowed.time;
    launch::Handlers handlers;
    handlers.handles_signals = false;
    handlers.started = [&](launch::Control& control) {
        control.write(std::move(input));
        control.request_stop();
    };
    const auto end = [&](launch::Control& control, Refusal::Kind kind, std::string why) {
        if (!broken) broken = Refusal{kind, std::move(why)};
        control.stop_within(milliseconds(0));
    };
    const auto count = [&](std::size_t bytes, launch::Control& control) {
        if (bytes > allowed.bytes)
            end(control, Refusal::Kind::failed,
                fmt::format("it wrote more than the {} KiB allowed here", allowed.bytes / kib));
    };
    handlers.bytes = [&](std::string_view bytes, launch::Control& control) {
        if (broken) return;
        if (!allowed.take(bytes.size())) {
            return end(control, Refusal::Kind::failed,
                       fmt::format("the modules of all hosts take more than the {} MiB allowed here",
                                   limits::hosts_module_bytes / limits::mega));
        }
        output += bytes;
        count(output.size(), control);
    };
    std::size_t error_bytes = 0;
    handlers.error_bytes = [&](std::size_t bytes, launch::Control& control) { count(error_bytes += bytes, control); };
    handlers.error = [&](launch::Line line, launch::Control&) { said.add(line.text); };
    handlers.stop_timeout = allowed.time;
    handlers.tick = [&](launch::Control& control) {
        if (signals_.count() > 0) end(control, Refusal::Kind::failed, "ended by the user");
        if (Clock::now() >= deadline)
            end(control, Refusal::Kind::unreachable, fmt::format("no answer within {}", time_text(allowed.time)));
    };
    const auto ending = launch::run_child(ssh_command(options_, host_, script), handlers);
    if (broken) return tl::make_unexpected(*broken);
    STAPGEN_TRY(check(ending, said.text(), false));
    return output;
}

Answer<HostFacts> Remote::ask() const {
    STAPGEN_LET(const auto output, run(facts_script, {}, {limits::host_answer_bytes, options_.connect_timeout}));
    return parse_facts(output);
}

Answer<void> Remote::send(const HostFacts& facts, const SentFile& file) const {
    const auto known = facts.files.find(file.name);
    if (known != facts.files.end() && known->second == file.hash) return {};
    const auto path = base::shell_quoted({facts.folder + "/" + file.name});
    const auto time = options_.connect_timeout + seconds(file.content.size() / bytes_each_s);
    // Whole or not at all, whoever else sends it now and whenever the connection ends.
    STAPGEN_TRY(run(fmt::format("umask 077; f={0}; t=$f.$$; trap 'rm -f \"$t\"' EXIT; trap 'exit 1' HUP INT TERM; "
                                "cat >\"$t\" && [ $(wc -c <\"$t\") -eq {1} ] && chmod 700 \"$t\" && mv \"$t\" \"$f\"",
                                path, file.content.size()),
                    file.content, {limits::host_answer_bytes, time}));
    return {};
}

Answer<std::string> Remote::build(const HostFacts& facts, std::vector<std::string> argv,
                                  const std::function<bool(std::size_t bytes)>& take) const {
    // Under a name of its own, and gone afterwards.
    const auto pattern = base::shell_quoted({facts.folder + "/build.XXXXXX"});
    const auto script = fmt::format(
        "umask 077; d=$(mktemp -d {}) || exit 1; trap 'rm -rf \"$d\"' EXIT; trap 'exit 1' HUP INT TERM; "
        "{} -q -o \"$d/module.ko\" >&2 && cat \"$d/module.ko\"",
        pattern, base::shell_quoted(argv));
    return run(script, {}, {limits::host_module_bytes, options_.compile_time(), take});
}

Answer<void> Remote::measure(const std::vector<std::string>& argv, std::chrono::nanoseconds duration,
                             const Run& run) const {
    const auto whole_seconds = static_cast<std::size_t>(std::chrono::ceil<seconds>(duration).count());
    session::Said said;
    std::optional<Refusal> broken;
    bool is_ready = false, has_begun = false;
    int heeded = 0;
    std::size_t received = 0;
    const auto margin = 2 * options_.connect_timeout;
    auto deadline = Clock::now() + options_.connect_timeout;
    launch::Handlers handlers;
    handlers.handles_signals = false;
    handlers.stop_timeout = options_.connect_timeout;
    const auto end = [&](launch::Control& control, milliseconds within, std::string why) {
        if (!broken) broken = Refusal{has_begun ? Refusal::Kind::lost : Refusal::Kind::failed, std::move(why)};
        control.stop_within(within);
    };
    handlers.bytes = [&](std::string_view bytes, launch::Control& control) {
        if (broken) return;
        received += bytes.size();
        const auto most = limits::host_recording_bytes(whole_seconds) + run.further_bytes();
        if (received > most) {
            return end(control, milliseconds(0),
                       fmt::format("its recording is larger than the {} MiB allowed for {}", most / limits::mega,
                                   time_text(duration)));
        }
        if (auto written = run.recording(bytes); !written)
            end(control, options_.connect_timeout, short_reason(written.error().what));
    };
    std::size_t error_bytes = 0;
    handlers.error_bytes = [&](std::size_t bytes, launch::Control& control) {
        error_bytes += bytes;
        const auto most = limits::host_stderr_bytes(whole_seconds);
        if (error_bytes > most)
            end(control, milliseconds(0), fmt::format("it wrote more than the {} KiB allowed to stderr", most / kib));
    };
    handlers.error = [&](launch::Line line, launch::Control&) {
        const auto status = session::parse_status(line.text);
        if (broken) return;
        if (const auto held = session::parse_held(line.text); held && has_begun) return run.held(*held);
        if (has_begun && session::parse_kept(line.text)) return run.kept();
        if (!status) said.add(line.text);
        if (status && status->is_measuring) {
            run.status(*status);
        } else if (status) {
            is_ready = true;
            run.ready();
        }
    };
    handlers.tick = [&](launch::Control& control) {
        if (is_ready && !has_begun && run.go()) {
            has_begun = true;
            deadline = Clock::now() + duration + margin;
            control.write("go\n");
        }
        if (auto orders = has_begun ? run.orders() : ""; !orders.empty()) control.write(std::move(orders));
        // One that is ready waits for the others.
        if (is_ready == has_begun && Clock::now() >= deadline) {
            end(control, options_.connect_timeout,
                has_begun ? fmt::format("it did not end {} after its {}", time_text(margin), time_text(duration))
                          : fmt::format("it was not ready within {}", time_text(options_.connect_timeout)));
        }
        if (const int asked = signals_.count(); asked > heeded) {
            heeded = asked;
            control.stop_within(asked == 1 ? options_.connect_timeout : milliseconds(0));
        }
    };
    const auto ending = launch::run_child(measuring_command(options_, host_, argv), handlers);
    if (broken) return tl::make_unexpected(*broken);
    return check(ending, said.text(), has_begun);
}

std::size_t max_hosts_at_once() {
    // Each has a child with three pipes, an event loop with three descriptors, and a recording. For a moment, while one
    // is started, there are some more.
    constexpr std::size_t for_each_host = 7, for_us = 40;
    const auto free = base::free_descriptors();
    return std::max<std::size_t>((free - std::min(free, for_us)) / for_each_host, 1);
}

launch::Command measuring_command(const SshOptions& options, const std::string& host, std::vector<std::string> argv) {
    if (options.sudo) argv.insert(argv.begin(), {"sudo", "-n", "--"});
    return ssh_command(options, host, "exec " + base::shell_quoted(argv));
}

}  // namespace stapgen::fleet
