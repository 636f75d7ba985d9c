// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats.h"

#include <fmt/format.h>

#include <array>

namespace stapgen::disguises {

std::string drops_of(std::string_view place, std::string_view reason) {
    return fmt::format("drops {} {}", place, reason);
}

Amounts stages_of(const std::vector<Stage>& stages, std::string_view who) {
    Amounts amounts;
    for (const auto& [name, ns] : stages) {
        amounts[fmt::format("n {} {}", name, who)] = 1;
        amounts[fmt::format("ns {} {}", name, who)] = ns;
    }
    return amounts;
}

std::int64_t prime(std::int64_t number) {
    constexpr std::array<std::int64_t, 11> primes{3, 4001, 7, 11, 101, 17, 2, 1009, 31, 97, 5};
    return primes[static_cast<std::size_t>(number) % primes.size()];
}

const std::vector<Format>& formats() {
    static const auto all = [] {
        auto both = drop_formats();
        for (auto& format : packet_formats())
            both.push_back(std::move(format));
        return both;
    }();
    return all;
}

}  // namespace stapgen::disguises
