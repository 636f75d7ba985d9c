// SPDX-License-Identifier: GPL-2.0-or-later
// FormatDetector: records that people and programs have changed on the way.
#include <algorithm>

#include "base/text.h"
#include "decode/format_detector.h"
#include "decode/scan.h"

namespace stapgen::decode {

/// The importers' opinion of it.
Importer::Shape FormatDetector::shape(std::string_view text) const {
    auto shape = Importer::Shape::other;
    for (const auto& source : sources_)
        if (source.foreign) shape = std::max(shape, source.foreign->shape(text));
    return shape;
}

/// A record that was broken at a blank or, as a terminal does it, anywhere: what follows has to be what it lacks, and
/// nothing else. Of quoted-printable a line that goes on ends in '='.
std::size_t FormatDetector::take_broken(std::string_view lines, bool is_end, Sink& sink) {
    using Shape = Importer::Shape;
    auto rest = lines;
    const auto head = first_line(take_line(rest));
    const auto of_head = shape(unquoted(head));
    if (of_head == Shape::other || of_head == Shape::whole) return 0;
    std::vector<std::string_view> parts;
    std::string lacking;
    std::string_view behind_lacking;
    const auto joined = [&](std::string_view separator) {
        std::string text(stripper_.text());
        for (const auto part : parts) {
            const bool is_soft = text.ends_with('=');
            if (is_soft) text.pop_back();
            (text += is_soft ? "" : separator) += is_soft ? part : base::trim(part);
        }
        return text;
    };
    const auto take_joined = [&](std::string text, std::string_view behind) -> std::size_t {
        if (!take_text(std::move(text), sink)) return 0;
        const auto taken = lines.substr(0, lines.size() - behind.size());
        for (auto more = std::ranges::count(taken, '\n'); more > 1; --more)
            recognised();
        return taken.size();
    };
    constexpr std::size_t max_parts = 2;
    while (parts.size() < max_parts) {
        if (rest.empty()) {
            if (is_end) break;
            held_ = lines;
            return lines.size();
        }
        const auto part = unquoted(first_line(take_line(rest)));
        if (base::trim(part).empty() || shape(part) != Shape::other) break;
        parts.push_back(part);
        stripper_.set(head);
        do {
            for (const std::string_view separator : {" ", ""}) {
                auto text = joined(separator);
                const auto what = shape(text);
                if (what == Shape::whole) {
                    if (const auto taken = take_joined(std::move(text), rest); taken != 0) return taken;
                } else if (what == Shape::lacking && of_head == Shape::begun && lacking.empty()) {
                    lacking = std::move(text);
                    behind_lacking = rest;
                }
            }
        } while (stripper_.strip_prompt());
    }
    return lacking.empty() ? 0 : take_joined(std::move(lacking), behind_lacking);
}

/// Behind marks of other tools records of packets only are looked for: they say by themselves what they are.
bool FormatDetector::take_marked(Sink& sink) {
    const auto marked = stripper_.behind_mark();
    if (!marked) return false;
    scratch_ = std::string(marked->text) + '\n';
    const auto take_with = [&](Source& source) {
        if (!source.has_packets() || take(source, scratch_, sink, marked->times) == 0) return false;
        source.counted += marked->is_counted ? 1 : 0;
        return true;
    };
    return take_with(*last_) || std::any_of(sources_.rbegin(), sources_.rend(), take_with);
}

}  // namespace stapgen::decode
