// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics/family.h"

#include <algorithm>

#include "base/saturate.h"
#include "base/text.h"

namespace stapgen::metrics {

namespace {

struct Added {
    Value& known;

    void operator()(std::int64_t more) const {
        base::add_saturating(std::get<std::int64_t>(known), std::max<std::int64_t>(more, 0));
    }
    void operator()(double more) const { std::get<double>(known) += more; }
    void operator()(const Sum& more) const {
        auto& [n, sum] = std::get<Sum>(known);
        base::add_saturating(n, more.n);
        sum += more.sum;
    }
    void operator()(const Histogram& more) const { std::get<Histogram>(known) += more; }
};

/// A family of the same kind, with nothing in it.
Value nothing_of(const Value& value) {
    return std::visit([](const auto& of) { return Value(std::decay_t<decltype(of)>()); }, value);
}

}  // namespace

void Family::add(const Labels& labels, const Value& more) {
    auto found = samples.find(labels);
    if (found == samples.end()) found = samples.emplace(labels, nothing_of(more)).first;
    std::visit(Added{found->second}, more);
}

std::string label_name(std::string_view text) {
    std::string name;
    for (const char c : text)
        name += base::is_word_character(c) ? c : '_';
    return name;
}

std::string sample_name(const Family& family) {
    if (family.type == Type::counter) return family.name + "_total";
    if (family.type == Type::info) return family.name + "_info";
    return family.name;
}

}  // namespace stapgen::metrics
