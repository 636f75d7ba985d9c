// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "show/model/format.h"
#include "show/model/sections.h"

/// The parts of text that stand alone.
namespace stapgen::show {

extern const Format table_format;

/// For a person: where the time goes, and why. On a terminal it takes fifteen lines at most.
void write_whys(std::ostream& out, const Reports& reports, const Options& options);

/// Of each whose it is, the sentence, a table (us), what the signs in it mean, and warnings.
void write_comparisons(std::ostream& out, std::span<const Compared> all, const Options& options);

/// A row for each record, of several lines on a terminal that is narrower. interrupt() ends the table; its heading is
/// repeated if it goes on.
std::unique_ptr<RecordWriter> event_table(std::ostream& out, const Options& options);

/// Where a measurement is written, and how.
struct Text {
    std::ostream& out;
    const rows::Results& results;
    const Options& options;

    /// On a terminal no line is wider than that.
    void say(std::string_view text, base::Ink ink = base::Ink::plain) const;
    /// In lines of the options' width.
    void say_wrapped(std::string_view text, std::size_t indent = 2) const;
    /// How many more rows there are, and what is in them.
    void say_rest(std::size_t rows, std::string_view sum = "") const;
};

// The sections of a measurement.
void draw(const Text& to, section::Calls section);
void draw(const Text& to, section::Stages section);
void draw(const Text& to, section::Tail section);
constexpr NotHere draw(const Text& /*to*/, section::Causes /*section*/) {
    return {"`stapgen why` is their text; parts are rows below their stage"};
}
/// A row for each block of time: --series.
void draw(const Text& to, section::OverTime section);
constexpr NotHere draw(const Text& /*to*/, section::Distribution /*section*/) {
    return {"it is a picture; the stages' table has percentiles"};
}
/// Of each direction as many as the options say: the total, when it ended (`local_time_of_day`, or s since the first
/// block where the time of day is not known), whose it was, and below it a row for each stage: when it began, how long
/// it took, and where that is in the whole. In us.
void draw(const Text& to, section::Slowest section);
void draw(const Text& to, section::Drops section);
void draw(const Text& to, section::Counts section);
void draw(const Text& to, section::Groups section);
void draw(const Text& to, section::Cost section);
void draw(const Text& to, section::Account section);
void draw(const Text& to, const Sheet& sheet);
template <HasSheet S>
void draw(const Text& to, S /*section*/) {
    draw(to, S::sheet(to.results));
}

/// As the screen has colours.
std::string painted(std::string_view text, base::Ink ink, const base::Screen& screen);

/// "WARNING: ...", for what is missing or unreliable.
void write_warning(std::ostream& out, std::string_view text, const base::Screen& screen);

/// Bytes above ASCII as \xNN, the rest as it is.
std::string ascii(std::string_view text);

/// A table as text, each line with its end, no blanks at line ends; of its extra columns these. Columns are as wide as
/// what is in them and nothing is cut. Where that is wider than the screen, the last column's texts are broken at
/// blanks, columns that can leave do so, with a note, or at last each row is a record of its own. Control characters
/// and other bytes than ASCII are written as \xNN.
std::string text_of(const Table& table, const base::Screen& screen = {}, const std::set<Extra>& extras = {});

std::size_t widest_line(std::string_view text);

}  // namespace stapgen::show
