// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/remote.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstdlib>
#include <map>

#include "base/exit_codes.h"
#include "base/text.h"
#include "host/facts.h"

namespace stapgen::fleet {

namespace {

/// For sh, whatever the shell is that sshd starts. Nothing of it is a user's.
constexpr const char* ask_script = R"sh(
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
d=${XDG_CACHE_HOME:-$HOME/.cache}/stapgen/fleet
mkdir -p "$d" || exit 1
echo "folder=$d"
echo "files=$(ls "$d" | tr '\n' ' ')"
echo "name=$(uname -n)"
echo "release=$(uname -r)"
echo "machine=$(uname -m)"
echo "uid=$(id -u)"
echo "disabled=$(cat /proc/sys/kernel/modules_disabled 2>/dev/null)"
echo "boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
echo "notes=$(od -An -v -tx1 /sys/kernel/notes 2>/dev/null | tr -cd 0-9a-f)"
for p in stapgen stap staprun; do echo "$p=$(command -v $p)"; done
)sh";

std::string bytes_of(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(base::from_hex(hex.substr(i, 2)).value_or(0));
    return bytes;
}

std::map<std::string, std::string, std::less<>> values_of(const std::string& text) {
    std::map<std::string, std::string, std::less<>> values;
    for (const auto line : base::split(text, '\n')) {
        const auto at = line.find('=');
        if (at != std::string_view::npos) values.emplace(line.substr(0, at), line.substr(at + 1));
    }
    return values;
}

/// ssh's own failures: ssh(1), EXIT STATUS.
constexpr int of_ssh = 255;

/// ssh sees that a host is gone; one that compiles for the first time, on a busy or emulated machine, takes minutes.
constexpr std::chrono::hours patience(1);

}  // namespace

launch::Command Remote::command(const std::string& script) const {
    // A host that is gone is seen after 30 s; one that is only busy may take a while to answer.
    launch::Command command{{options_.program, "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o",
                             "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"}};
    for (const auto& option : options_.options)
        command.argv.insert(command.argv.end(), {"-o", option});
    command.argv.insert(command.argv.end(), {"--", host_, base::shell_quoted({"sh", "-c", script})});
    for (const char* name : {"HOME", "SSH_AUTH_SOCK", "USER", "LOGNAME"}) {
        if (const char* value = std::getenv(name)) command.environment[name] = value;
    }
    command.takes_input = true;
    return command;
}

Answer<void> Remote::check(const base::Result<launch::Ending>& ending, const std::string& said, bool had_begun) const {
    using Kind = Refusal::Kind;
    if (!ending) return tl::make_unexpected(Refusal{Kind::cannot, ending.error().what});
    if (ending->clean()) return {};
    if (ending->gave_up)
        return tl::make_unexpected(Refusal{had_begun ? Kind::lost : Kind::failed, "it did not end when asked to"});
    if (ending->signal != 0 || ending->exit_code == of_ssh) {
        const auto why = session::last_line_of(said);
        if (had_begun) return tl::make_unexpected(Refusal{Kind::lost, "the connection was lost: " + why});
        return tl::make_unexpected(Refusal{Kind::unreachable, why.empty() ? "ssh failed" : why});
    }
    using base::ErrorKind;
    const auto of_host = base::kind_of_exit_code(ending->exit_code).value_or(ErrorKind::failed);
    const auto kind = of_host == ErrorKind::cannot_here   ? Kind::cannot
                      : of_host == ErrorKind::over_budget ? Kind::over_budget
                                                          : Kind::failed;
    return tl::make_unexpected(Refusal{kind, session::reason_of(said)});
}

Answer<std::string> Remote::run(const std::string& script, std::string input) const {
    std::string output, said;
    launch::Handlers handlers;
    handlers.heeds_signals = false;
    handlers.started = [&](launch::Control& control) {
        control.write(std::move(input));
        control.request_stop();
    };
    handlers.bytes = [&](std::string_view bytes, launch::Control&) { output += bytes; };
    handlers.error = [&](launch::Line line, launch::Control&) { said.append(line.text).append(1, '\n'); };
    handlers.patience = patience;
    handlers.tick = [&](launch::Control& control) {
        if (stop_ > 0) ::kill(control.pid(), SIGTERM);
    };
    if (auto checked = check(launch::run_child(command(script), handlers), said, false); !checked)
        return tl::make_unexpected(checked.error());
    return output;
}

Answer<HostFacts> Remote::ask() const {
    const auto output = run(ask_script, {});
    if (!output) return tl::make_unexpected(output.error());
    auto values = values_of(*output);
    HostFacts facts;
    facts.folder = values["folder"];
    facts.files = ' ' + values["files"];
    facts.name = values["name"];
    facts.release = values["release"];
    facts.architecture = values["machine"];
    facts.is_root = values["uid"] == "0";
    facts.can_load = values["disabled"] != "1";
    facts.boot_id = values["boot"];
    facts.build_id = host::parse_build_id(bytes_of(values["notes"]));
    facts.stapgen = values["stapgen"];
    facts.stap = values["stap"];
    facts.staprun = values["staprun"];
    if (facts.release.empty() || facts.folder.empty())
        return tl::make_unexpected(Refusal{Refusal::Kind::cannot, "no POSIX shell: " + session::last_line_of(*output)});
    return facts;
}

Answer<void> Remote::send(const HostFacts& facts, const std::string& name, const std::string& content) const {
    if (facts.files.find(' ' + name + ' ') != std::string::npos) return {};
    const auto file = base::shell_quoted({facts.folder + "/" + name});
    // Whole or not at all, whoever else sends it now.
    const auto sent =
        run(fmt::format("umask 077; f={0}; cat >\"$f.$$\" && [ $(wc -c <\"$f.$$\") -eq {1} ] && chmod 700 "
                        "\"$f.$$\" && mv \"$f.$$\" \"$f\" || {{ rm -f \"$f.$$\"; exit 1; }}",
                        file, content.size()),
            content);
    if (!sent) return tl::make_unexpected(sent.error());
    return {};
}

Answer<std::string> Remote::output_of(const std::vector<std::string>& argv) const {
    return run("exec " + base::shell_quoted(argv), {});
}

Answer<void> Remote::measure(const std::vector<std::string>& argv, const Run& run) const {
    std::string said;
    bool is_ready = false, has_begun = false;
    int heeded = 0;
    launch::Handlers handlers;
    handlers.heeds_signals = false;
    handlers.bytes = [&](std::string_view bytes, launch::Control&) { run.recording(bytes); };
    handlers.error = [&](launch::Line line, launch::Control&) {
        const auto status = session::parse_status(line.text);
        if (!status) {
            said.append(line.text).append(1, '\n');
        } else if (status->is_measuring) {
            run.status(*status);
        } else {
            is_ready = true;
            run.ready();
        }
    };
    handlers.tick = [&](launch::Control& control) {
        if (is_ready && !has_begun && run.go()) {
            has_begun = true;
            control.write("go\n");
        }
        if (stop_ > heeded) {
            heeded = stop_;
            if (heeded == 1) {
                control.request_stop();
            } else {
                ::kill(control.pid(), SIGTERM);
            }
        }
    };
    const auto ending = launch::run_child(measuring_command(argv), handlers);
    return check(ending, said, has_begun);
}

launch::Command Remote::measuring_command(std::vector<std::string> argv) const {
    if (options_.sudo) argv.insert(argv.begin(), {"sudo", "-n", "--"});
    return command("exec " + base::shell_quoted(argv));
}

std::vector<std::string> Remote::measuring_argv(const std::vector<std::string>& argv) const {
    return measuring_command(argv).argv;
}

}  // namespace stapgen::fleet
