// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stapgen::decode {

/// The number that a word before a line is, if it may say how often uniq -c met the line.
std::optional<std::int64_t> line_count(std::string_view word);
/// Where such a number ends: in the columns of GNU's and busybox's uniq -c, and of BSD's.
inline bool is_counted_column(std::size_t column) {
    return column == 7 || column == 4;
}
/// Where the number of cat -n and nl ends, of less than a million lines.
inline constexpr std::size_t numbered_column = 6;

/// Whether the last of a text is a tag of HTML.
bool ends_with_tag(std::string_view text);

/// Where what a person has added to a line begins: "<---- HERE", "# why", "// why", "<<<"; npos: nowhere.
std::size_t annotation_begin(std::string_view line);

/// A line without what terminals, shells and mail put around it: colour codes, blanks, HTML, the end of a comment,
/// "^C", prompts and quote marks.
class PromptStripper {
  public:
    /// A line without its end.
    void set(std::string_view line);

    /// The rest of the line; at first with everything before it that may be a prompt, and one less after each
    /// strip_prompt().
    [[nodiscard]] std::string_view text() const { return std::string_view(text_).substr(begin_); }

    /// Takes off what may be a prompt: the text up to the next '$', '#', '%' or '>' with a blank or nothing behind it.
    /// False if there is none among the first 128 bytes.
    bool strip_prompt();

    /// A record behind a mark, as it may be.
    struct Marked {
        std::string_view text;
        std::int64_t times = 1;
        bool is_counted = false;  ///< `times` is in the line
    };
    /// The text behind the sign of a list or a comment ("* ", "| ", "// "), a line's number ("12:", "12. ", " 12\t")
    /// or a count in the columns of `uniq -c`, which are others than those of cat -n. Nothing if there is none.
    [[nodiscard]] std::optional<Marked> behind_mark() const;

    /// The line without what a person has added, which is at its end, before it ("! ") or around parts of it
    /// ("**16390**"). Nothing if there is none.
    [[nodiscard]] std::optional<std::string> without_annotation() const;

    /// Whether there is nothing in the line, or nothing but a prompt of two words at most: "[root@host ~]#".
    [[nodiscard]] bool is_empty() const;

  private:
    void skip_blanks();
    void trim_end();
    void take_off_html();

    std::string text_;
    std::size_t begin_ = 0;
    std::size_t left_ = 0;  ///< where the line begins behind its prompts
};

}  // namespace stapgen::decode
