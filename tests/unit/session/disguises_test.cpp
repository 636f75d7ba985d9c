// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "../../fuzz/memory_file.h"
#include "disguise.h"
#include "in_pieces.h"
#include "session/replay.h"
#include "unit/rows.h"

using namespace stapgen;
using disguises::Amounts;

namespace {

constexpr std::int64_t rows = 7;
constexpr std::size_t odd = 1009;  ///< so many bytes at once: letters of two bytes are cut apart

std::string place_of(const summaries::Drop& drop) {
    std::string place;
    if (drop.place.symbol) place = *drop.place.symbol;
    if (drop.place.offset) place += fmt::format("+{:#x}", *drop.place.offset);
    if (drop.place.module) place += fmt::format(" [{}]", *drop.place.module);
    if (drop.place.address) place += fmt::format("{}{:#x}", place.empty() ? "" : " ", *drop.place.address);
    return place;
}

std::string reason_of(const summaries::Drop& drop) {
    if (drop.reason.name) return *drop.reason.name;
    return drop.reason.number < 0 ? "-" : std::to_string(drop.reason.number);
}

std::string who(const table::Group& group) {
    std::string all;
    for (const auto& [key, value] : group) {
        if (!all.empty()) all += ' ';
        const auto* text = std::get_if<std::string>(&value);
        const auto* number = std::get_if<std::int64_t>(&value);
        all += text != nullptr ? *text : number != nullptr ? std::to_string(*number) : "other";
    }
    return all;
}

void add_amounts(const summaries::Summary& summary, Amounts& amounts) {
    for (const auto& drop : summary.drops)
        amounts[disguises::drops_of(place_of(drop), reason_of(drop))] += drop.count;
    for (const auto& [name, group, stats] : summary.stages) {
        if (group.empty() || stats.n() == 0) continue;
        amounts[fmt::format("n {} {}", name, who(group))] += stats.n();
        amounts[fmt::format("ns {} {}", name, who(group))] += static_cast<std::int64_t>(stats.sum());
    }
}

/// What `stapgen report` says of a text.
struct Answer {
    Amounts amounts;
    std::int64_t not_understood = 0;
    std::string error;
};

Answer answer_to(std::string_view bytes, const disguises::Format& format) {
    const fuzz::MemoryFile file(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    session::Presentation presentation;
    if (!format.by.empty()) presentation.by = format.by;
    const auto summaries = session::load({file.path()}, presentation, {});
    Answer answer;
    if (!summaries) {
        answer.error = summaries.error().what;
        return answer;
    }
    for (const auto& summary : *summaries) {
        add_amounts(summaries::summary_of(summary), answer.amounts);
        answer.not_understood += summary.input.unrecognised;
    }
    return answer;
}

/// Of one format: its rows, and what a report of them must say.
struct Known {
    disguises::Lines lines;
    std::vector<Amounts> rows;
    std::int64_t not_understood = 0;  ///< of the lines around the rows, undisguised
};

Known known_of(const disguises::Format& format) {
    Known known;
    known.lines = format.before;
    for (std::int64_t number = 0; number < rows; ++number) {
        auto row = format.row(number);
        known.lines.insert(known.lines.end(), row.lines.begin(), row.lines.end());
        known.rows.push_back(std::move(row.says));
    }
    known.lines.insert(known.lines.end(), format.behind.begin(), format.behind.end());
    return known;
}

/// The rows of which the answer says something else, or nothing.
std::int64_t rows_missing(const Known& known, const Answer& answer) {
    return std::ranges::count_if(known.rows, [&](const Amounts& row) {
        return std::ranges::any_of(row, [&](const auto& amount) {
            const auto found = answer.amounts.find(amount.first);
            return found == answer.amounts.end() || found->second != amount.second;
        });
    });
}

/// The first thing that it says and no row does; empty: there is none.
std::string invented(const Known& known, const Answer& answer) {
    for (const auto& [key, amount] : answer.amounts) {
        if (std::ranges::none_of(known.rows, [&](const Amounts& row) { return row.contains(key); })) return key;
    }
    return {};
}

struct Cell {
    const disguises::Format& format;
    const disguises::Prefix& prefix;
    const disguises::Quoting& quoting;
    const disguises::LineEnds& ends;
    const disguises::Encoding& encoding;

    /// Where not all need be understood: the last line may have been cut short; without a mark UTF-16 is known by its
    /// first two letters, if they are of ASCII; a page glues its tags to the first line's prefix and to our own lines.
    [[nodiscard]] bool may_be_reported() const {
        return ends.name == "last line open" || encoding.name == "UTF-16LE" || encoding.name == "UTF-16BE" ||
               quoting.name == "<pre><code>" || quoting.name == "paragraphs";
    }
};

struct Matrix {
    std::int64_t right = 0, reported = 0, wrong = 0;

    void add(const Cell& cell, const Known& known, const Answer& answer, std::int64_t lines_of_quoting) {
        const auto missing = rows_missing(known, answer);
        const auto extra = invented(known, answer);
        if (missing == 0 && extra.empty()) {
            ++right;
            return;
        }
        const bool nothing_known = answer.error.find("no known format") != std::string::npos;
        const auto more_not_understood = answer.not_understood - known.not_understood - lines_of_quoting;
        const bool is_reported = extra.empty() && (nothing_known || missing <= more_not_understood);
        if (is_reported && cell.may_be_reported()) {
            ++reported;
            return;
        }
        constexpr int max_shown = 40;
        if (++wrong > max_shown) return;
        FAIL_CHECK(fmt::format("{} | {} | {} | {} | {}: {} rows missing, {} lines not understood{}, not in it: {}{}",
                               cell.format.name, cell.prefix.name, cell.quoting.name, cell.ends.name,
                               cell.encoding.name, missing, answer.not_understood, is_reported ? ", reported" : "",
                               extra, answer.error));
    }
};

/// One encoding of each text is reported, in turn; what becomes the same bytes reads the same.
void add_encodings(Matrix& matrix, const Cell& cell, const std::string& text, std::size_t turn, const Known& known,
                   std::int64_t lines_of_quoting) {
    const auto& all = disguises::encodings();
    const auto as_read = [&](const disguises::Encoding& encoding) {
        return disguises::as_utf8_in_pieces(encoding.of(text), odd);
    };
    const auto& reported = all[turn % all.size()];
    const auto answer = answer_to(reported.of(text), cell.format);
    const auto read = as_read(reported);
    for (const auto& encoding : all) {
        const Cell here{cell.format, cell.prefix, cell.quoting, cell.ends, encoding};
        matrix.add(here, known, as_read(encoding) == read ? answer : answer_to(encoding.of(text), cell.format),
                   lines_of_quoting);
    }
}

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t step = 7;
#else
constexpr std::size_t step = 1;
#endif

}  // namespace

TEST_CASE("every kind of text in every disguise is counted rightly, or what is missing is reported") {
    Matrix matrix;
    std::size_t turn = 0;
    for (const auto& format : disguises::formats()) {
        auto known = known_of(format);
        const auto plain = answer_to(disguises::line_ends().front().join(known.lines), format);
        known.not_understood = plain.not_understood;
        CHECK_MESSAGE(rows_missing(known, plain) == 0, format.name);
        CHECK_MESSAGE(invented(known, plain) == "", format.name);
        for (const auto& prefix : disguises::prefixes()) {
            const auto prefixed = disguises::put_before(prefix, known.lines);
            for (const auto& quoting : disguises::quotings()) {
                const auto lines = quoting.of(prefixed);
                for (const auto& ends : disguises::line_ends()) {
                    if (++turn % step != 0) continue;
                    const Cell cell{format, prefix, quoting, ends, disguises::encodings().front()};
                    add_encodings(matrix, cell, ends.join(lines), turn / step, known,
                                  std::ssize(lines) - std::ssize(prefixed));
                }
            }
        }
    }
    MESSAGE(fmt::format("{} cells: {} right, {} reported, {} neither", matrix.right + matrix.reported + matrix.wrong,
                        matrix.right, matrix.reported, matrix.wrong));
    CHECK(matrix.wrong == 0);
}
