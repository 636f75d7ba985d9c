// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "symbols/kaslr/kaslr_offset.h"

namespace stapgen::symbols {

std::string explain(const KaslrFinding& finding) {
    const auto places = fmt::format("{} functions known to drop packets", finding.functions);
    const auto addresses = fmt::format(
        "{} of the kernel{}",
        finding.addresses == 1 ? std::string("the one drop address")
                               : fmt::format("all {} different drop addresses", finding.addresses),
        finding.in_modules == 0 ? std::string() : fmt::format(" ({} more are of modules)", finding.in_modules));
    if (finding.kaslr_offset) {
        return fmt::format(
            "KASLR offset {}: the only one of {} possible offsets that puts {} at the {}; {} wrong ones are expected "
            "by chance",
            hexadecimal(*finding.kaslr_offset), finding.possible, addresses, places,
            finding.expected_by_chance < max_by_chance ? fmt::format("fewer than {}", max_by_chance)
                                                       : fmt::format("{:.2g}", finding.expected_by_chance));
    }
    if (finding.addresses == 0) return "KASLR offset unknown: no drop of the log can be in the kernel's own code";
    if (finding.candidate_count == 0) {
        return fmt::format(
            "KASLR offset unknown: none of {} possible offsets puts {} at the {}: one drop is at an unknown place, or "
            "the files are of another kernel{}",
            finding.possible, addresses, places,
            finding.nearest ? fmt::format("; {} puts all but {:#x} there", hexadecimal(*finding.nearest), finding.miss)
                            : "");
    }
    if (finding.candidate_count == 1 && finding.addresses < min_by_functions) {
        return fmt::format(
            "KASLR offset unknown: only {} puts {} at the {}, but fewer than {} addresses can also fit the map of a "
            "neighbouring build",
            hexadecimal(finding.candidates.front()), addresses, places, min_by_functions);
    }
    if (finding.candidate_count == 1) {
        return fmt::format(
            "KASLR offset unknown: only {} puts {} at the {}, but {:.2g} wrong ones are expected by chance; the limit "
            "is {}",
            hexadecimal(finding.candidates.front()), addresses, places, finding.expected_by_chance, max_by_chance);
    }
    return fmt::format("KASLR offset unknown: {} of {} possible offsets put {} at the {}", finding.candidate_count,
                       finding.possible, addresses, places);
}

std::string hexadecimal(std::int64_t kaslr_offset) {
    const auto magnitude = static_cast<std::uint64_t>(kaslr_offset);
    return kaslr_offset < 0 ? fmt::format("-{:#x}", -magnitude) : fmt::format("{:#x}", magnitude);
}

}  // namespace stapgen::symbols
