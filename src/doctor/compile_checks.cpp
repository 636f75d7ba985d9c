// SPDX-License-Identifier: GPL-2.0-or-later
// What decides whether stap can make a module for the kernel that is asked about.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/unpacker.h"
#include "doctor/checks.h"
#include "host/facts.h"

namespace stapgen::doctor {

namespace {

/// A file of options has 300 kB; more of what says it is one is not read.
constexpr std::size_t max_size = 4 * 1024 * 1024;

/// Without these SystemTap's runtime does not compile, no probe can be set, or a module is not removed again.
constexpr std::array required = {"MODULES", "MODULE_UNLOAD", "KPROBES", "KALLSYMS", "TRACEPOINTS", "RELAY", "DEBUG_FS"};

/// The file of the kernel's options and its text; both empty if there is none.
struct KernelConfig {
    std::string file, text;
};

KernelConfig read_config(const host::System& system, const host::Target& target) {
    if (target.running) {
        if (const auto packed = system.read("/proc/config.gz", max_size)) {
            if (auto text = base::unpack(*packed, max_size).bytes; !text.empty())
                return {"/proc/config.gz", std::move(text)};
        }
    }
    for (const auto& file : {"/boot/config-" + target.release, "/lib/modules/" + target.release + "/config",
                             (target.build / ".config").string()}) {
        if (auto text = system.read(file, max_size); text && !text->empty()) return {file, std::move(*text)};
    }
    return {};
}

}  // namespace

Check systemtap(const host::System& /*system*/, const Question& question) {
    const auto& target = question.target;
    if (target.stap.empty()) {
        const bool by_path = target.stap_asked.find('/') != std::string::npos;
        return missing(by_path ? fmt::format("{} is not a program", target.stap_asked)
                               : fmt::format("SystemTap is not installed: no '{}' in PATH", target.stap_asked),
                       {{}, host::install_stap(), {}});
    }
    if (!target.stap_version) {
        return missing(fmt::format("{} --version does not print SystemTap's version", target.stap.string()),
                       {"name a working stap with --stap PATH or $STAPGEN_STAP"});
    }
    const auto& version = *target.stap_version;
    const auto number = fmt::format("{}.{}", version.major, version.minor);
    const auto newest = host::parse_version_number(version.tested_to);
    const auto asked = host::parse_version_number(target.release);
    if (newest && asked && *asked > *newest) {
        return note(fmt::format("SystemTap {} supports kernels up to {}; this is {}.{}", number, version.tested_to,
                                asked->major, asked->minor),
                    {"continue; if stap fails in pass 2 or 4, install a newer SystemTap"});
    }
    if (!newest) return ok("SystemTap " + number);
    return ok(fmt::format("SystemTap {}, which supports kernels up to {}", number, version.tested_to));
}

Check headers(const host::System& system, const Question& question) {
    const auto& target = question.target;
    if (target.release.empty()) {
        return missing(
            fmt::format("{} does not state its kernel release", target.build.string()),
            {"its include/config/kernel.release is missing: name a configured and built kernel tree with -r"});
    }
    const auto& architecture = target.named_architecture.empty() ? target.architecture : target.named_architecture;
    const bool are_its_own = target.architecture == architecture;
    if (target.build_has_config && target.build_has_makefile && are_its_own) return ok(target.build.string());
    const auto absent = target.build / (target.build_has_config ? "Makefile" : ".config");
    const auto found = are_its_own ? fmt::format("{} does not exist", absent.string())
                                   : fmt::format("{} is for {}, and {} is a kernel of {}", target.build.string(),
                                                 target.architecture, target.release, architecture);
    Remedy remedy{{}, host::install_headers(target.release), {}};
    if (architecture != system.running_architecture()) {
        remedy = {"unpack them: their package cannot be installed beside a cross compiler",
                  host::unpack_headers(target.release, architecture),
                  {}};
    }
    if (target.running) {
        remedy.otherwise = fmt::format(
            "without such a package, compile on a machine that has it (stapgen build -r {}) and run the module here "
            "with stapgen exec",
            target.release);
    }
    return missing(found, std::move(remedy));
}

Check compiler(const host::System& system, const Question& question) {
    const auto built_by = host::kernel_option(read_config(system, question.target).text, "CC_VERSION_TEXT");
    const auto words = base::words(built_by);
    // Debian's headers name the one that the kernel was built with; elsewhere it is the plain one.
    const bool named = system.exists(question.target.build / ".kernelvariables");
    const auto name = named && !words.empty() ? std::string(words[0]) : question.target.cross_compile + "gcc";
    std::vector<std::string> absent{name, "make"};
    std::erase_if(absent, [&](const std::string& program) { return system.find_program(program).has_value(); });
    if (!absent.empty()) {
        return missing(
            fmt::format("not installed: {}", fmt::join(absent, " and ")),
            {{}, question.target.is_foreign ? host::install_cross_compiler(name) : host::install_compiler(name), {}});
    }
    if (built_by.starts_with("clang")) {
        return note(fmt::format("the kernel was built by clang, modules are built by {}", name),
                    {"if stap fails in pass 4, use a kernel built by gcc"});
    }
    return ok(fmt::format("{} and make", name));
}

Check kernel_options(const host::System& system, const Question& question) {
    std::vector<std::string> absent;
    const auto config = read_config(system, question.target);
    std::string seen = config.file;
    if (!config.text.empty()) {
        for (const auto* option : required) {
            if (host::kernel_option(config.text, option).empty()) absent.push_back(fmt::format("CONFIG_{}", option));
        }
    } else if (question.target.running) {
        // Without permission to read the table it is not known, and there is no reason to say no.
        seen = host::kallsyms_file;
        const auto symbols = system.read(seen).value_or("");
        if (!symbols.empty() && symbols.find(" register_kprobe\n") == std::string::npos)
            absent.push_back("CONFIG_KPROBES");
    }
    if (!absent.empty()) {
        return missing(fmt::format("the kernel lacks {} ({})", fmt::join(absent, ", "), seen),
                       {"use a distribution's kernel"});
    }
    if (config.text.empty()) return note("unknown: no file with the kernel's options");
    return ok(fmt::format("{} and {} more that SystemTap needs ({})", required[2], required.size() - 1, seen));
}

Check symbol_table(const host::System& system, const Question& question) {
    constexpr auto id = "symbol-table";
    const auto& target = question.target;
    const auto& table = target.symbol_table;
    auto found = table.state == host::SymbolTableState::missing
                     ? fmt::format("there is no /boot/System.map-{}", target.release)
                     : table.path.string();
    if (table.state == host::SymbolTableState::usable && question.symbols.empty()) return ok(found);
    if (table.state == host::SymbolTableState::stub) found += " is a stub without functions";
    if (question.choice.leaves_out(id)) {
        return note(found + ", and its workaround is switched off: stap finds no function",
                    {"leave out --no-workaround"});
    }
    if (std::ranges::none_of(question.subjects, &Subject::probes_functions)) {
        // Where it is for nothing, whether it can be worked around does not matter.
        if (!target.running && question.symbols.empty()) return ok(found + "; not needed: no function is probed");
    }
    const bool from_memory = target.running && system.exists(host::kallsyms_file);
    if (question.symbols.empty() && !from_memory) {
        const Remedy remedy{
            "copy that kernel's own table here: there, as root, 'cat /proc/kallsyms | gzip >FILE.gz'; here --symbols "
            "FILE.gz"};
        if (!target.debuginfo.empty()) return note(found + ", so stap finds functions only in debuginfo", remedy);
        return missing(found + ", so stap finds no function of this kernel", remedy);
    }
    if (!host::may_mount(system)) {
        return missing(found + ", and this user may not mount another one over it: user namespaces are switched off",
                       {"run it with sudo"});
    }
    return worked_around(found +
                         fmt::format("; stap gets the names from {} instead",
                                     !question.symbols.empty() ? "the file given by --symbols" : host::kallsyms_file));
}

Check debuginfo(const host::System& /*system*/, const Question& question) {
    const auto& target = question.target;
    if (!target.debuginfo.empty()) return ok(target.debuginfo);
    if (!question.debuginfo_required) return ok("none, not needed");
    return missing(
        fmt::format("no debuginfo of kernel {}: /usr/lib/debug/boot/vmlinux-{} and the other places that stap searches "
                    "are empty",
                    target.release, target.release),
        {{}, host::install_debuginfo(target.release), "or set DEBUGINFOD_URLS, or omit --debuginfo require"});
}

namespace {

Check fault(const host::Workaround& known) {
    if (!known.only_in.empty()) {
        return ok(
            fmt::format("{}; stapgen's recipes avoid that, a script of your own with {} meets it until SystemTap {}",
                        known.why, fmt::join(known.only_in, ", "), known.mended_in));
    }
    return note(known.why, {fmt::format("install SystemTap {} or newer", known.mended_in)});
}

}  // namespace

std::vector<Check> workarounds(const Question& question) {
    std::vector<Check> checks;
    for (const auto& workaround : question.workarounds) {
        auto check = worked_around(workaround.why);
        if (workaround.is_fault()) {
            check = fault(workaround);
        } else if (question.choice.leaves_out(workaround.id)) {
            const auto newer = workaround.mended_in.empty() ? "a newer SystemTap" : "SystemTap " + workaround.mended_in;
            check = note(workaround.why + "; its workaround is switched off",
                         {"omit --no-workaround, or install " + newer});
        } else if (!workaround.instead.empty()) {
            check = missing(workaround.why, {workaround.instead});
            check.blocks = Blocks::compiling;
        } else if (!workaround.mended_in.empty()) {
            check.found +=
                fmt::format("; fixed in a private copy of its runtime, as in SystemTap {}", workaround.mended_in);
        }
        check.id = workaround.id;
        if (check.state != State::missing && !workaround.is_fault()) check.workaround = workaround.id;
        checks.push_back(std::move(check));
    }
    return checks;
}

Check trace_headers(const host::System& system, const Question& question) {
    if (system.list(question.target.source / "include/trace/events").empty()) return {};
    const std::string found = "stap compiles all tracepoint headers of this kernel once, before the first tracepoint";
    if (question.choice.leaves_out("trace-headers"))
        return note(found + "; its workaround is switched off", {"leave out --no-workaround"});
    if (!host::may_mount(system)) {
        return note(found + "; this user may not mount other folders over them",
                    {"to skip most of them, run with sudo"});
    }
    return worked_around("stap gets only the tracepoint headers that a script needs");
}

}  // namespace stapgen::doctor
