// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/host.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "host/workarounds.h"

namespace stapgen::host {

namespace {

namespace fs = std::filesystem;

void look_at_kernel_tree(const System& system, const TargetRequest& request, Target& target) {
    if (request.release.starts_with('/')) {
        target.build = fs::path(request.release).lexically_normal();
        if (target.build.filename().empty()) target.build = target.build.parent_path();
        target.release_option = target.build.string();
        target.release = base::trim(system.read(target.build / "include/config/kernel.release").value_or(""));
    } else {
        target.release = request.release.empty() ? system.running_release() : request.release;
        target.build = fs::path("/lib/modules") / target.release / "build";
        if (target.release != system.running_release()) target.release_option = target.release;
    }
    target.running = !target.release.empty() && target.release == system.running_release();
    target.build_has_config = system.exists(target.build / ".config");
    target.build_has_makefile = system.exists(target.build / "Makefile");

    // Debian splits the headers: build/ has the generated ones, and its Makefile includes the common
    // folder's.
    target.source = target.build;
    std::vector<fs::path> candidates{target.build / "source", target.build.parent_path() / "source"};
    const auto makefile = system.read(target.build / "Makefile", 4096).value_or("");
    for (const auto line : base::split(makefile, '\n')) {
        const auto parts = base::words(line);
        if (parts.size() == 2 && parts[0] == "include" && parts[1].starts_with('/')) {
            candidates.insert(candidates.begin(), fs::path(parts[1]).parent_path());
        }
    }
    if (system.exists(target.build / "include/linux/sched.h")) return;
    for (const auto& candidate : candidates) {
        if (system.exists(candidate / "include/linux")) {
            target.source = candidate;
            return;
        }
    }
}

struct Architecture {
    std::string_view name, option, debian, others;  ///< as `uname -m`; in .config; in releases
};
constexpr std::array architectures{Architecture{"aarch64", "\nCONFIG_ARM64=y", "-arm64", ".aarch64"},
                                   Architecture{"x86_64", "\nCONFIG_X86_64=y", "-amd64", ".x86_64"}};

/// A fact of the kernel's options, or its release where its headers are missing: "6.12.1-arm64-16k",
/// "5.14.0-427.el9.aarch64".
void look_at_architecture(const System& system, Target& target) {
    constexpr std::size_t max_size = 4 * 1024 * 1024;
    const auto options = system.read(target.build / ".config", max_size).value_or("");
    const auto has = [](const std::string& text, std::string_view word) { return text.find(word) != text.npos; };
    const auto here = system.running_architecture();
    for (const auto& [name, option, debian, others] : architectures) {
        if (has(options, option)) target.architecture = name;
        if (has(target.release, debian) || has(target.release, others)) target.named_architecture = name;
    }
    if (target.running && !here.empty()) target.named_architecture = here;
    if (target.architecture.empty())
        target.architecture = target.named_architecture.empty() ? here : target.named_architecture;
    target.is_foreign = !here.empty() && target.architecture != here;
    // Debian's headers choose their compiler themselves.
    if (target.is_foreign && !system.exists(target.build / ".kernelvariables")) {
        target.cross_compile = target.architecture + "-linux-gnu-";
    }
}

void look_at_stap(const System& system, const TargetRequest& request, Target& target) {
    target.stap_asked = request.stap;
    if (auto stap = system.find_program(request.stap)) {
        target.stap = *stap;
        if (const auto output = system.output_of({stap->string(), "--version"})) {
            target.stap_version = parse_stap_version(*output);
        }
        const auto prefix = stap->parent_path().parent_path();
        for (const auto& runtime : {prefix / "share/systemtap/runtime", fs::path("/usr/share/systemtap/runtime")}) {
            if (target.runtime.empty() && system.exists(runtime)) target.runtime = runtime;
        }
        // The staprun beside the stap asked for; another one may not understand its modules.
        if (auto staprun = system.find_program((stap->parent_path() / "staprun").string())) {
            target.staprun = *staprun;
        }
    }
    if (target.staprun.empty()) {
        if (auto staprun = system.find_program("staprun")) target.staprun = *staprun;
    }
}

void look_at_symbol_table(const System& system, Target& target) {
    const auto name = "System.map-" + target.release;
    // Traced: Debian 12's 4.8 opens what upstream opens, Debian 13's 5.1 the first one of debuginfo instead.
    // Where in between that changed is a guess.
    const bool debuginfo_first = target.stap_version && target.stap_version->debian &&
                                 *target.stap_version >= StapVersion{.major = 4, .minor = 9, .text = {}};
    const auto first = debuginfo_first ? fs::path("/usr/lib/debug/boot") / name : target.build / "System.map";
    for (const auto& path : {first, fs::path("/boot") / name}) {
        // Tables begin with hundreds of absolute symbols of per-CPU data, so the beginning is not enough.
        const auto content = system.read(path);
        if (!content) continue;
        // stap looks no further than the first file it can open, whatever is in it.
        target.symbol_table = {names_functions(*content) ? SymbolTableState::usable : SymbolTableState::stub, path};
        return;
    }
}

/// Where stap looks (elfutils' libdwfl does it), the first file that has it.
void look_at_debuginfo(const System& system, const TargetRequest& request, Target& target) {
    const fs::path debug = "/usr/lib/debug";
    const auto name = "vmlinux-" + target.release;
    for (const auto& path :
         {debug / "boot" / name, debug / "lib/modules" / target.release / "vmlinux", target.build / "vmlinux",
          fs::path("/boot") / name, fs::path("/lib/modules") / target.release / "vmlinux"}) {
        for (const auto* suffix : {"", ".debug"}) {
            const auto file = path.string() + suffix;
            // Debian's headers have a vmlinux with nothing but BTF in it.
            if (target.debuginfo.empty() && system.has_dwarf(file)) target.debuginfo = file;
        }
    }
    if (target.debuginfo.empty()) target.debuginfo = request.debuginfod_urls;
}

}  // namespace

Target inspect(const System& system, const TargetRequest& request) {
    Target target;
    target.distribution = distribution_of(system.read("/etc/os-release").value_or(""));
    look_at_kernel_tree(system, request, target);
    look_at_architecture(system, target);
    look_at_stap(system, request, target);
    look_at_symbol_table(system, target);
    look_at_debuginfo(system, request, target);
    return target;
}

std::optional<StapVersion> parse_version_number(std::string_view number) {
    StapVersion version;
    const char* const end = number.data() + number.size();
    auto [after_major, error] = std::from_chars(number.data(), end, version.major);
    if (error != std::errc{} || after_major == end || *after_major != '.') return std::nullopt;
    if (std::from_chars(after_major + 1, end, version.minor).ec != std::errc{}) return std::nullopt;
    version.text = number;
    return version;
}

std::optional<StapVersion> parse_stap_version(std::string_view output) {
    constexpr std::string_view mark = "(version ";
    const auto begin = output.find(mark);
    if (begin == std::string_view::npos) return std::nullopt;
    output.remove_prefix(begin + mark.size());
    auto version = parse_version_number(output.substr(0, output.find_first_of(")\n")));
    if (!version) return std::nullopt;
    version->debian = version->text.find("Debian") != std::string::npos;
    // "tested kernel versions: 2.6.32 ... 6.9-rc0", from SystemTap 1.8 on.
    constexpr std::string_view tested = "tested kernel versions: ";
    if (const auto line = output.find(tested); line != std::string_view::npos) {
        const auto words =
            base::words(output.substr(line + tested.size(), output.find('\n', line) - line - tested.size()));
        if (words.size() == 3 && words[1] == "...") version->tested_to = words[2];
    }
    return version;
}

}  // namespace stapgen::host
