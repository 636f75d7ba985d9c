// What decides whether stap can make a module for the kernel that is asked about.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/checks.h"
#include "host/facts.h"

namespace stapgen::doctor {

namespace {

/// The compiler that the kernel's build calls.
std::string compiler_of(const host::System& system, const host::Target& target) {
    const auto config = option_of(read_config(system, target), "CC_VERSION_TEXT");
    const auto words = base::words(config);
    // Debian's headers name the one that the kernel was built with; elsewhere it is the plain one.
    const bool named = system.exists(target.build / ".kernelvariables");
    return named && !words.empty() ? std::string(words[0]) : "gcc";
}

}  // namespace

Check systemtap(const host::Target& target) {
    constexpr auto id = "systemtap";
    if (target.stap.empty()) {
        const bool by_path = target.stap_asked.find('/') != std::string::npos;
        return missing(id, Blocks::compiling,
                       by_path ? fmt::format("{} is not a program", target.stap_asked)
                               : fmt::format("SystemTap is not installed: no '{}' in PATH", target.stap_asked),
                       {{}, host::install_stap(), {}});
    }
    if (!target.stap_version) {
        return missing(id, Blocks::compiling,
                       fmt::format("{} --version does not say which SystemTap it is", target.stap.string()),
                       {"name a working stap with --stap PATH or $STAPGEN_STAP"});
    }
    const auto& version = *target.stap_version;
    const auto number = fmt::format("{}.{}", version.major, version.minor);
    const auto newest = host::parse_version_number(version.tested_to);
    const auto asked = host::parse_version_number(target.release);
    if (newest && asked && *asked > *newest) {
        return note(id,
                    fmt::format("SystemTap {} was tested by its makers up to Linux {}, and this is {}.{}", number,
                                version.tested_to, asked->major, asked->minor),
                    {"go on; if stap fails in pass 2 or 4, take a newer SystemTap"});
    }
    if (!newest) return ok(id, "SystemTap " + number);
    return ok(id, fmt::format("SystemTap {}, tested by its makers up to Linux {}", number, version.tested_to));
}

Check headers(const host::Target& target) {
    constexpr auto id = "headers";
    if (target.release.empty()) {
        return missing(
            id, Blocks::compiling, fmt::format("{} does not say which kernel it builds", target.build.string()),
            {"its include/config/kernel.release is missing: name a configured and built kernel tree with -r"});
    }
    if (target.build_has_config && target.build_has_makefile) return ok(id, target.build.string());
    const auto absent = target.build / (target.build_has_config ? "Makefile" : ".config");
    Remedy remedy{{}, host::install_headers(target.release), {}};
    if (target.running) {
        remedy.otherwise = fmt::format(
            "where there is no such package, compile on a machine that has it (stapgen build -r "
            "{}) and run the module here with stapgen exec",
            target.release);
    }
    return missing(id, Blocks::compiling, fmt::format("{} is not there", absent.string()), std::move(remedy));
}

Check compiler(const host::System& system, const host::Target& target) {
    constexpr auto id = "compiler";
    const auto name = compiler_of(system, target);
    std::string absent;
    for (const auto& program : {name, std::string("make")}) {
        if (!system.find_program(program)) absent += (absent.empty() ? "" : " and ") + program;
    }
    if (!absent.empty()) {
        return missing(id, Blocks::compiling, fmt::format("not installed: {}", absent),
                       {{}, host::install_compiler(name), {}});
    }
    const auto built_by = option_of(read_config(system, target), "CC_VERSION_TEXT");
    if (built_by.starts_with("clang")) {
        return note(id, fmt::format("the kernel was built by clang, and modules are built by {}", name),
                    {"if stap fails in pass 4, use a kernel that was built by gcc"});
    }
    return ok(id, fmt::format("{} and make", name));
}

Check symbol_table(const host::System& system, const Question& question) {
    constexpr auto id = "symbol-table";
    const auto& target = question.target;
    const auto& table = target.symbol_table;
    const auto name = "System.map-" + target.release;
    auto found = table.state == host::SymbolTableState::missing ? fmt::format("there is no /boot/{}", name)
                                                                : table.path.string();
    if (table.state == host::SymbolTableState::usable && !question.symbols_given) return ok(id, found);
    if (table.state == host::SymbolTableState::stub) found += " is a stub without functions";

    auto check = note(id, found);
    check.workaround = id;
    if (question.choice.leaves_out(id)) {
        check.found += ", and --no-workaround leaves it at that: stap finds no function";
        check.remedy.words = "leave out --no-workaround";
        return check;
    }
    if (std::none_of(question.subjects.begin(), question.subjects.end(),
                     [](const Subject& subject) { return subject.probes_functions; })) {
        // Where it is for nothing, whether it can be worked around does not matter.
        if (!target.running && !question.symbols_given) return ok(id, found + "; no function is probed");
    }
    const bool from_memory = target.running && system.exists(host::kallsyms_file);
    if (!question.symbols_given && !from_memory) {
        const Remedy remedy{
            "bring that kernel's own table here: there, as root, 'gzip </proc/kallsyms >FILE.gz'; here "
            "--symbols FILE.gz"};
        if (!target.debuginfo.empty()) {
            check.found += ", so that functions are found in debuginfo only";
            check.remedy = remedy;
            return check;
        }
        auto absent = missing(id, Blocks::functions, found + ", so that stap finds no function of this kernel", remedy);
        absent.workaround = id;
        return absent;
    }
    if (!host::may_mount(system)) {
        auto absent = missing(id, Blocks::functions,
                              found + ", and this user may not mount another over it: user namespaces are switched off",
                              {"run it with sudo"});
        absent.workaround = id;
        return absent;
    }
    check.state = State::worked_around;
    check.found += fmt::format("; stap is shown the names of {}",
                               question.symbols_given ? "the file given by --symbols" : host::kallsyms_file);
    return check;
}

Check debuginfo(const Question& question) {
    constexpr auto id = "debuginfo";
    const auto& target = question.target;
    if (!target.debuginfo.empty()) return ok(id, target.debuginfo);
    if (!question.debuginfo_required) return ok(id, "none, and none is needed");
    return missing(
        id, Blocks::compiling,
        fmt::format("no debuginfo of kernel {}: there is no /usr/lib/debug/boot/vmlinux-{} nor another file "
                    "that stap would take",
                    target.release, target.release),
        {{}, host::install_debuginfo(target.release), "or set DEBUGINFOD_URLS, or leave --debuginfo require out"});
}

std::vector<Check> workarounds(const Question& question) {
    std::vector<Check> checks;
    for (const auto& workaround : question.workarounds) {
        auto check = note(workaround.id, workaround.why);
        check.workaround = workaround.id;
        if (question.choice.leaves_out(workaround.id)) {
            check.found += "; --no-workaround leaves that out";
            check.remedy.words = "leave out --no-workaround, or take a newer SystemTap";
        } else if (!workaround.instead.empty()) {
            check = missing(workaround.id, Blocks::compiling, workaround.why, {workaround.instead});
        } else {
            check.state = State::worked_around;
        }
        checks.push_back(std::move(check));
    }
    return checks;
}

std::optional<Check> trace_headers(const host::System& system, const Question& question) {
    constexpr auto id = "trace-headers";
    if (system.list(question.target.source / "include/trace/events").empty()) return std::nullopt;
    auto check =
        note(id, "before the first tracepoint stap compiles all of this kernel's headers of tracepoints, once");
    check.workaround = id;
    if (question.choice.leaves_out(id)) {
        check.found += "; --no-workaround leaves it at that";
        check.remedy.words = "leave out --no-workaround";
    } else if (!host::may_mount(system)) {
        check.found += "; this user may not show it others";
        check.remedy.words = "to spare it most of them: run it with sudo";
    } else {
        check.state = State::worked_around;
        check.found = "of this kernel's headers of tracepoints stap is shown those that a script needs";
    }
    return check;
}

}  // namespace stapgen::doctor
