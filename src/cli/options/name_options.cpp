#include "cli/options/name_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/options/option_groups.h"

namespace stapgen::cli {

namespace {

base::Result<std::int64_t> parse_kaslr_offset(std::string_view typed) {
    auto digits = typed;
    const bool negative = digits.starts_with('-');
    if (negative) digits.remove_prefix(1);
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    const auto kaslr_offset = base::to_unsigned(digits, 16);
    if (!kaslr_offset) {
        return base::bad_input(fmt::format("--slide '{}' is not a hex number", base::printable(typed)),
                               "it is _stext in /proc/kallsyms less _stext in the map, for example 0x1c000000");
    }
    return static_cast<std::int64_t>(negative ? 0 - *kaslr_offset : *kaslr_offset);
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
        .add_option("--slide", options.kaslr_offset,
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
    if (!options.kaslr_offset.empty()) {
        const auto kaslr_offset = parse_kaslr_offset(options.kaslr_offset);
        if (!kaslr_offset) return tl::make_unexpected(kaslr_offset.error());
        sources.kaslr_offset = *kaslr_offset;
    }
    return sources;
}

}  // namespace stapgen::cli
