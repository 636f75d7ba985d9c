// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/counter_source.h"

#include <fmt/format.h>

#include <utility>

namespace stapgen::table {

namespace {

/// "n1" and "n1.example.com" are one.
bool is_same_host(std::string_view a, std::string_view b) {
    if (a.size() > b.size()) std::swap(a, b);
    return b.starts_with(a) && (a.size() == b.size() || b[a.size()] == '.');
}

void append_part(std::string& text, std::string_view between, std::string_view part) {
    if (part.empty()) return;
    if (!text.empty()) text += between;
    text += part;
}

}  // namespace

bool CounterSource::may_be(const CounterSource& other) const {
    const auto &here = reached.empty() ? host : reached, &there = other.reached.empty() ? other.host : other.reached;
    const bool is_known = !here.empty() && !there.empty();
    return inside == other.inside && heading == other.heading &&
           (is_known ? is_same_host(here, there) : reached.empty() && other.reached.empty());
}

void CounterSource::join(const CounterSource& other) {
    if (host.size() < other.host.size() && reached.empty()) host = other.host;
}

std::string CounterSource::text(std::string_view of) const {
    std::string text(of == "-" ? "" : of);
    append_part(text, " in ", inside);
    append_part(text, " on ", reached.empty() ? host : reached);
    append_part(text, " of ", heading);
    return text.empty() ? std::string(of) : text;
}

std::string CounterSource::description() const {
    std::string text;
    const auto& where = reached.empty() ? host : reached;
    append_part(text, ", ", where.empty() || where.starts_with("host ") ? where : "host " + where);
    append_part(text, ", ", inside);
    append_part(text, ", ", heading.empty() ? "" : fmt::format("below '{}'", heading));
    return text.empty() ? "no name" : text;
}

std::optional<std::size_t> find_source(std::span<const CounterSource> sources, const CounterSource& source) {
    std::optional<std::size_t> found;
    bool is_only = true;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (sources[i] == source) return i;
        if (!sources[i].may_be(source)) continue;
        is_only = !found;
        found = i;
    }
    return is_only ? found : std::nullopt;
}

}  // namespace stapgen::table
