#include "cli/name_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/text.h"
#include "cli/option_groups.h"
#include "cli/telling.h"

namespace stapgen::cli {

namespace {

base::Result<std::int64_t> parse_slide(std::string_view typed) {
    auto digits = typed;
    const bool negative = digits.starts_with('-');
    if (negative) digits.remove_prefix(1);
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    const auto slide = base::to_unsigned(digits, 16);
    if (!slide) {
        return base::bad_input(fmt::format("--slide '{}' is not a hex number", base::printable(typed)),
                               "it is _stext in /proc/kallsyms less _stext in the map, for example 0x1c000000");
    }
    return static_cast<std::int64_t>(negative ? 0 - *slide : *slide);
}

}  // namespace

void add_name_options(CLI::App& command, NameOptions& options) {
    command
        .add_option("--map", options.map,
                    "The kernel's symbols; System.map, a copy of /proc/kallsyms, vmlinux, vmlinuz, a module's file or "
                    "a folder with those, also packed")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->group(groups::names);
    command.add_option("--modules", options.modules, "A copy of /proc/modules: where modules were")
        ->type_name("FILE")
        ->group(groups::names);
    command
        .add_option("--slide", options.slide,
                    "What KASLR added to the map's addresses; without it: found out, or refused")
        ->type_name("HEX")
        ->group(groups::names);
    command.add_option("-r,--release", options.release, "The kernel's release")
        ->type_name("RELEASE")
        ->group(groups::names);
}

base::Result<symbols::NameSources> sources_of(const NameOptions& options) {
    symbols::NameSources sources;
    sources.files.assign(options.map.begin(), options.map.end());
    if (!options.modules.empty()) sources.modules = options.modules;
    sources.release = options.release;
    if (!options.slide.empty()) {
        const auto slide = parse_slide(options.slide);
        if (!slide) return tl::make_unexpected(slide.error());
        sources.slide = *slide;
    }
    return sources;
}

bool names_are_wanted(const symbols::NameSources& sources) {
    return !sources.files.empty() || sources.modules || sources.slide || !sources.release.empty();
}

symbols::LogKernel kernel_of(const recording::Head& head) {
    return {head.release, head.build_id, head.text, head.stext, head.etext, head.modules};
}

void show_notes(const symbols::KernelNames& names) {
    static std::set<std::string> shown;
    for (const auto& note : names.notes()) {
        if (shown.insert(note).second) tell(note);
    }
}

base::Result<void> settle_slide(symbols::KernelNames& names, std::span<const std::uint64_t> drop_addresses) {
    const auto finding = names.infer(drop_addresses);
    show_notes(names);
    if (finding.slide) return {};
    std::string hint = fmt::format(
        "what helps: a copy of /proc/kallsyms of the boot that made the log; a log with more different drops; {}or say "
        "it: "
        "--slide HEX (0 if it was started with nokaslr)",
        finding.exact ? "" : "the kernel's vmlinux or vmlinuz (in /boot, no debug package) beside the map; ");
    if (!finding.candidates.empty()) {
        std::vector<std::string> shown;
        for (const auto candidate : finding.candidates)
            shown.push_back(candidate < 0 ? fmt::format("-0x{:x}", -candidate) : fmt::format("0x{:x}", candidate));
        hint += fmt::format("; {}: {}{}", finding.candidate_count == 1 ? "it could be" : "it could be one of",
                            fmt::join(shown, ", "), finding.candidate_count > shown.size() ? ", ..." : "");
    }
    return base::bad_input(finding.explanation, hint);
}

}  // namespace stapgen::cli
