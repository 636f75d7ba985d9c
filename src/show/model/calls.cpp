// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"

namespace stapgen::show {

namespace {

bool is_same_context(const Call& a, const Call& b) {
    const auto context = [](const Call& call) {
        return std::pair(call.in_thread(), call.in_thread() ? call.tid : call.cpu);
    };
    return context(a) == context(b);
}

std::string indented(std::int64_t depth) {
    return std::string(static_cast<std::size_t>(depth) * 2, ' ');
}

double in_us(std::int64_t ns) {
    return static_cast<double>(ns) / 1000;
}

/// The calls of one context; `begin_ns` is the tree's.
void write_context(std::string& out, std::span<const Call> calls, std::int64_t begin_ns) {
    out += fmt::format("{:>11} {:>11}    {}\n", "AT us", "TOOK us", context_text(calls.front()));
    std::vector<std::int64_t> open;  // depths of calls that have a brace
    const auto close_down_to = [&](std::int64_t depth) {
        while (!open.empty() && open.back() >= depth) {
            out += fmt::format("{:>23} |  {}}}\n", "", indented(open.back()));
            open.pop_back();
        }
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto& call = calls[i];
        close_down_to(call.depth);
        const bool has_inner = i + 1 < calls.size() && calls[i + 1].depth > call.depth;
        out += fmt::format("{:>11.1f} {:>11.1f} |  {}{}({}){}\n",
                           in_us(base::saturating_subtract(call.begin_ns, begin_ns)), in_us(call.duration_ns),
                           indented(call.depth), base::printable(call.function), base::printable(call.args),
                           has_inner ? " {" : ";");
        if (has_inner) open.push_back(call.depth);
    }
    close_down_to(0);
}

/// Takes off the first calls that are like the first of all.
template <class IsLike>
std::span<const Call> take(std::span<const Call>& calls, IsLike is_like) {
    const auto& first = calls.front();
    const auto end = std::ranges::find_if_not(calls, [&](const Call& call) { return is_like(first, call); });
    const auto part = calls.first(static_cast<std::size_t>(end - calls.begin()));
    calls = calls.subspan(part.size());
    return part;
}

}  // namespace

std::string call_tree(std::span<const Call> calls) {
    std::string out;
    if (calls.empty()) return out;
    const auto begin_ns = std::ranges::min(calls, {}, &Call::begin_ns).begin_ns;
    for (const auto context : call_contexts(calls))
        write_context(out, context, begin_ns);
    return out;
}

std::vector<std::span<const Call>> call_contexts(std::span<const Call> tree) {
    std::vector<std::span<const Call>> contexts;
    while (!tree.empty())
        contexts.push_back(take(tree, is_same_context));
    return contexts;
}

std::string context_text(const Call& call) {
    if (!call.in_thread()) return fmt::format("in softirq on CPU {}", call.cpu);
    return fmt::format("in thread {} {}", call.tid, base::printable(call.comm));
}

std::vector<std::span<const Call>> call_trees(std::span<const Call> calls) {
    std::vector<std::span<const Call>> trees;
    while (!calls.empty())
        trees.push_back(take(calls, [](const Call& a, const Call& b) { return a.packet == b.packet; }));
    return trees;
}

}  // namespace stapgen::show
