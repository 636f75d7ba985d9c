// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::decode {

/// Takes whole lines whose prefixes name one source (source_name()); valid during the call.
using TakeLines = std::function<void(std::string_view lines, std::string_view source)>;

/// The prefix that some other tool has put before each line: its time, a host, a container, a number, a bullet, quote
/// marks. It is found by what repeats, not by a list of tools: the same number of words and signs on every line, alike
/// from line to line.
class LinePrefix {
  public:
    /// Learns from the first lines of an input, each with its '\n'. Nothing is taken off where they are understood best
    /// as they are; of several beginnings with which as many are understood the shortest, and what follows it on every
    /// line alike: a container's "stdout F" may be a process's name, but all processes hardly have one name.
    void learn(std::string_view lines);

    [[nodiscard]] bool is_empty() const { return words_ == 0 && signs_ == 0; }
    /// Its numbers may be counts: they grow by one from line to line, but are not as a tool numbers lines.
    [[nodiscard]] bool may_count() const { return may_count_; }

    /// The lines without it; those that do not have it, and every line's end, as they are. Where it ends in a count,
    /// that stays, in the columns of uniq -c.
    [[nodiscard]] std::string without(std::string_view lines) const;
    /// The same, in parts.
    void split(std::string_view lines, const TakeLines& take) const;
    /// The source that a line's prefix names; empty: nothing, or it does not have it.
    [[nodiscard]] std::string_view source(std::string_view line) const;

  private:
    using Lines = std::vector<std::string_view>;
    [[nodiscard]] std::size_t length(std::string_view line) const;
    [[nodiscard]] std::string_view piece(std::string_view line, std::size_t index) const;
    [[nodiscard]] bool goes_on(const LinePrefix& shorter, const Lines& lines, const std::vector<bool>& of) const;
    void learn_number(const Lines& lines, const std::vector<bool>& of);
    void learn_shapes(const Lines& lines, const std::vector<bool>& as_is, const std::vector<bool>& without_it);

    std::size_t words_ = 0;
    bool has_number_ = false;  ///< the last word is one: of the line, or
    bool is_count_ = false;    ///< how many lines like it there are
    bool may_count_ = false;
    std::size_t signs_ = 0;  ///< limit of ':', '|', '>' and ')' after the words: "a.log:12:3 drops"
    /// Shapes of each word, and of what the signs end. Empty: they are many.
    std::vector<std::set<std::string>> shapes_;
};

/// The lines of a text without what another tool has put before each of them, and with plain blanks and
/// equals signs instead of no-break ones and of a mail's. Holds the first lines back until there are enough to learn
/// from.
class PrefixStripper {
  public:
    /// Hands over the stripped text of whole lines, each with its '\n'; nothing as long as it holds back.
    void feed(std::string_view whole_lines, const TakeLines& take);
    /// A remark for a reader of the numbers; empty: none. Complete after finish().
    [[nodiscard]] std::string_view remark() const;
    /// Hands over what is held back.
    void finish(const TakeLines& take);
    /// A last line without '\n', and its source.
    [[nodiscard]] std::string last_line(std::string_view line) const;
    [[nodiscard]] std::string_view source(std::string_view line) const { return prefix_.source(line); }

  private:
    LinePrefix prefix_;
    std::string text_;
    bool learned_ = false;
};

}  // namespace stapgen::decode
