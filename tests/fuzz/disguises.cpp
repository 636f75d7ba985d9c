// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes are choices: rows of any kinds of text, some of them disguised, with junk, halves of rows and rows broken in
// two between them. A row that is whole says what it says, or a line of it is reported as not understood; nothing says
// what no row does; and how much is read at once changes nothing.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "choices.h"
#include "decode/format_detector.h"
#include "decode/place.h"
#include "decode/prefix_stripper.h"
#include "disguise.h"
#include "fuzz.h"
#include "in_pieces.h"

namespace {

using namespace stapgen;
using decode::FormatDetector;

/// A row that is whole, and where its lines are.
struct Placed {
    disguises::Amounts says;
    std::size_t first_line, lines;
};

struct Mixed {
    disguises::Lines lines;
    std::vector<Placed> rows;
    bool has_halves = false;  ///< of rows: they may say anything
};

constexpr std::string_view junk[] = {"",
                                     "$ sudo perf script | head",
                                     "and then it hung. Any ideas?",
                                     "Warning:",
                                     "---",
                                     "# cat /sys/kernel/debug/tracing/trace",
                                     "[  611.402] eth0: link is up",
                                     "3 drops",
                                     "1747 [000] 5123.000:"};

/// Some rows as one tool printed them and another one quoted them.
void add_paste(fuzz::Choices& choices, std::int64_t& number, Mixed& mixed) {
    const auto& format = choices.of(disguises::formats());
    const auto& prefix = choices.of(disguises::prefixes());
    const auto& quoting = choices.of(disguises::quotings());
    disguises::Lines lines;
    std::vector<Placed> rows;
    if (choices.below(4) != 3) lines = format.before;
    const auto count = choices.below(9);
    for (std::size_t i = 0; i < count; ++i) {
        auto row = format.row(number++);
        auto& middle = row.lines[row.lines.size() / 2];
        const auto at = middle.size() * choices.below(16) / 16;
        switch (choices.below(8)) {
            case 0:
                lines.emplace_back(choices.of(junk));
                break;
            case 1:
                middle.resize(at);
                mixed.has_halves = true;
                lines.insert(lines.end(), row.lines.begin(), row.lines.end());
                continue;
            case 2:
                lines.push_back(middle.substr(0, at));
                lines.push_back(middle.substr(at));
                mixed.has_halves = true;
                continue;
            default:
                break;
        }
        rows.push_back({std::move(row.says), lines.size(), row.lines.size()});
        lines.insert(lines.end(), row.lines.begin(), row.lines.end());
    }
    if (choices.below(2) != 0) lines.insert(lines.end(), format.behind.begin(), format.behind.end());
    const auto inside = lines.size();
    lines = quoting.of(disguises::put_before(prefix, std::move(lines)));
    // A fence is one line before and one behind.
    const auto added = (lines.size() - inside) / 2;
    for (auto& row : rows) {
        row.first_line += mixed.lines.size() + added;
        mixed.rows.push_back(std::move(row));
    }
    std::ranges::move(lines, std::back_inserter(mixed.lines));
}

std::string place_text(std::string_view text) {
    const auto place = decode::parse_place(text);
    std::string shown = place.symbol.value_or("");
    if (place.offset) shown += fmt::format("+{:#x}", *place.offset);
    if (place.module) shown += fmt::format(" [{}]", *place.module);
    if (place.address) shown += fmt::format("{}{:#x}", shown.empty() ? "" : " ", *place.address);
    return shown;
}

/// "ns qdisc eth0 1747" of "ns qdisc eth0 1747 Web Content".
std::string without_process(const std::string& key) {
    std::size_t at = 0;
    for (const auto word : base::words(key)) {
        at = key.find(word, at) + word.size();
        if (!key.starts_with("drops ") && base::to_unsigned(word)) return key.substr(0, at);
    }
    return key;
}

/// The same where it is not known whose it is.
std::string of_unknown(std::string key) {
    if (key.starts_with("drops ") || key.ends_with(" -")) return key;
    return key.substr(0, key.rfind(' ')) + " - -";
}

/// What was read of a text: the amounts, and of each line whether it was understood.
struct Reading : FormatDetector::Sink {
    std::multiset<std::pair<std::string, std::int64_t>> amounts;
    std::vector<bool> understood;
    std::int64_t incomplete = 0, blank_at_end = 0;
    FormatDetector detector;

    void record(Source& /*source*/, const decode::Record& record) override {
        const auto& fields = record.schema->fields;
        const auto value = [&](std::string_view name) {
            const auto field = record.schema->find(name);
            return field ? std::string(record.values[*field].raw) : std::string();
        };
        if (const auto count = record.schema->find("count")) {
            auto reason = value("reason");
            if (reason.empty() || reason == "-1") reason = "-";
            const auto place = record.schema->find("location");
            const auto shown = fields[*place].type == decode::FieldType::address
                                   ? fmt::format("{:#x}", record.values[*place].address())
                                   : place_text(record.values[*place].raw);
            amounts.emplace(disguises::drops_of(shown, reason), record.values[*count].number);
            return;
        }
        std::string who;
        for (const auto* name : {"dev", "pid", "tid", "comm"}) {
            if (!record.schema->find(name)) continue;
            if (!who.empty()) who += ' ';
            who += decode::unescape(value(name));
        }
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i].type != decode::FieldType::stage || !record.values[i].seen) continue;
            amounts.emplace(without_process(fmt::format("n {} {}", fields[i].name, who)), 1);
            amounts.emplace(without_process(fmt::format("ns {} {}", fields[i].name, who)), record.values[i].number);
        }
    }
    void line(Source& /*source*/, const decode::Line& line) override {
        const auto* end = std::get_if<decode::End>(&line);
        if (end == nullptr) return;
        for (const auto& [key, count] : end->counts) {
            if (key.starts_with("incomplete")) incomplete += count;
        }
    }
    void message(std::string_view /*text*/) override {}

    void feed(std::string_view lines) {
        while (!lines.empty()) {
            const auto end = lines.find('\n') + 1;
            const auto before = detector.input().recognised;
            detector.feed(lines.substr(0, end), *this);
            understood.push_back(detector.input().recognised > before);
            lines.remove_prefix(end);
        }
    }

    /// Handed over in blocks of `block` lines.
    Reading(std::string_view text, std::size_t block) {
        const auto whole = text.substr(0, text.rfind('\n') + 1), last = text.substr(whole.size());
        decode::PrefixStripper unprefixed;
        const auto take = [this](std::string_view lines, std::string_view source) {
            detector.set_source(source, *this);
            feed(lines);
        };
        for (auto rest = whole; !rest.empty();) {
            std::size_t end = 0;
            for (std::size_t i = 0; i < block && end < rest.size(); ++i)
                end = rest.find('\n', end) + 1;
            unprefixed.feed(std::string(rest.substr(0, end)), take);
            rest.remove_prefix(end);
        }
        unprefixed.finish(take);
        const auto before = detector.input().recognised;
        const auto last_line = unprefixed.last_line(last);
        detector.finish(last_line, *this);
        if (!last_line.empty()) understood.push_back(detector.input().recognised > before);
        // A prefix alone, without a line end, is no line any more.
        blank_at_end = last.empty() || !last_line.empty() ? 0 : 1;
    }

    /// Of pastes with prefixes of their own the longest one may hide whose the others' are.
    [[nodiscard]] bool has(const disguises::Amounts& says) const {
        return std::ranges::all_of(says, [&](const auto& amount) {
            const auto key = without_process(amount.first);
            return amounts.contains({key, amount.second}) || amounts.contains({of_unknown(key), amount.second});
        });
    }
};

void check(const Mixed& mixed, const Reading& reading) {
    const auto lines = std::ssize(mixed.lines) - reading.blank_at_end;
    fuzz::always(std::ssize(reading.understood) == lines && reading.detector.input().lines == lines);
    std::int64_t missing = 0;
    std::multiset<std::string> said;
    for (const auto& row : mixed.rows) {
        for (const auto& amount : row.says) {
            said.insert(without_process(amount.first));
            said.insert(of_unknown(without_process(amount.first)));
        }
        if (reading.has(row.says)) continue;
        const auto first = reading.understood.begin() + static_cast<std::ptrdiff_t>(row.first_line);
        const bool reported = std::find(first, first + static_cast<std::ptrdiff_t>(row.lines), false) !=
                              first + static_cast<std::ptrdiff_t>(row.lines);
        if (!reported) ++missing;
    }
    // What is known to be missing of a packet is in the account.
    fuzz::always(missing <= reading.incomplete);
    if (mixed.has_halves) return;
    for (const auto& [key, amount] : reading.amounts)
        fuzz::always(said.contains(key));
}

}  // namespace

FUZZ_TARGET(disguises) {
    fuzz::Choices choices(data, size);
    const auto& ends = choices.of(disguises::line_ends());
    const auto& encoding = choices.of(disguises::encodings());
    const auto block = choices.below(80) + 1;
    Mixed mixed;
    std::int64_t number = 0;
    for (int pastes = 0; pastes < 6 && !choices.empty(); ++pastes)
        add_paste(choices, number, mixed);
    if (mixed.lines.empty() || mixed.lines.back().empty()) mixed.lines.emplace_back("Regards");

    const auto text = ends.join(mixed.lines);
    const auto bytes = encoding.of(text);
    const auto utf8 = disguises::as_utf8_in_pieces(bytes, bytes.size());
    fuzz::always(disguises::as_utf8_in_pieces(bytes, 7 * block + 1) == utf8);
    // Without a mark UTF-16 is known by its first letters, which have to be of ASCII.
    if (utf8 != text) return 0;
    const Reading at_once(text, mixed.lines.size()), in_blocks(text, block);
    fuzz::always(at_once.amounts == in_blocks.amounts && at_once.understood == in_blocks.understood);
    check(mixed, at_once);
    return 0;
}
