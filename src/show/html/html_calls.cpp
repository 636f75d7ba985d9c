// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/saturate.h"
#include "base/text.h"
#include "show/html/html_scale.h"
#include "show/html/html_sections.h"
#include "show/model/calls.h"

namespace stapgen::show::html {

namespace {

/// On one page; further trees are text only.
constexpr std::size_t max_bars = 2000;

/// The calls of one context, from the first one's begin to the last one's end.
Icicle icicle_of(std::span<const Call> calls, std::int64_t tree_begin_ns, std::map<std::string, std::size_t>& colours) {
    auto begin = calls.front().begin_ns, end = begin + 1;
    for (const auto& call : calls) {
        begin = std::min(begin, call.begin_ns);
        end = std::max(end, base::saturating_add(call.begin_ns, call.duration_ns));
    }
    const auto length = base::saturating_subtract(end, begin);
    Icicle icicle{
        .caption = fmt::format("packet {} {}: {} from {} on", calls.front().packet, context_text(calls.front()),
                               duration_text(length), duration_text(base::saturating_subtract(begin, tree_begin_ns))),
        .scale = linear_ticks(length, true)};
    for (const auto& call : calls) {
        const auto from = base::saturating_subtract(call.begin_ns, begin);
        const auto depth = static_cast<std::size_t>(std::clamp<std::int64_t>(call.depth, 0, 255));
        icicle.depth = std::max(icicle.depth, depth + 1);
        icicle.bars.push_back({call.function,
                               fmt::format("{}({}): {}, from {} on", call.function, call.args,
                                           duration_text(call.duration_ns), duration_text(from)),
                               static_cast<double>(from) / static_cast<double>(length),
                               static_cast<double>(call.duration_ns) / static_cast<double>(length), depth,
                               colours.try_emplace(call.function, colours.size()).first->second});
    }
    return icicle;
}

}  // namespace

void draw(Section& to, section::Calls /*section*/, const Report& of) {
    std::map<std::string, std::size_t> colours;  // of functions
    std::size_t bars = 0, not_drawn = 0;
    for (const auto tree : call_trees(of.results.of<Call>())) {
        auto& lines = to.listings.emplace_back();
        lines.push_back(fmt::format("packet {}", tree.front().packet));
        const auto text = call_tree(tree);
        for (const auto line : base::split(std::string_view(text).substr(0, text.size() - 1), '\n'))
            lines.emplace_back(line);
        bars += tree.size();
        if (bars > max_bars) {
            ++not_drawn;
            continue;
        }
        const auto begin_ns = std::ranges::min(tree, {}, &Call::begin_ns).begin_ns;
        for (const auto context : call_contexts(tree))
            to.icicles.push_back(icicle_of(context, begin_ns, colours));
    }
    if (!to.listings.empty()) {
        to.paragraphs.push_back(
            "A call is as wide as it took, below its caller. In the text, AT is when a call began, from the first one "
            "on; TOOK has that of the calls in it.");
    }
    if (not_drawn > 0) to.paragraphs.push_back(fmt::format("{} more packets are shown as text only.", not_drawn));
    if (const auto& more = of.results.sentences.calls_left_out; !more.empty()) to.paragraphs.push_back(more);
}

}  // namespace stapgen::show::html
