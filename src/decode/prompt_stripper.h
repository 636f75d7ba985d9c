// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace stapgen::decode {

/// A line without what terminals, shells and mail put around it: colour codes, blanks, HTML, the end of a comment,
/// "^C", prompts and quote marks.
class PromptStripper {
  public:
    /// A line without its end.
    void set(std::string_view line);

    /// What is left; at first with everything before it that may be a prompt, and one less after each strip_prompt().
    [[nodiscard]] std::string_view text() const { return std::string_view(text_).substr(begin_); }

    /// Takes off what may be a prompt: the text up to the next '$', '#', '%' or '>' with a blank or nothing behind it.
    /// False if there is none among the first 128 bytes.
    bool strip_prompt();

    /// Whether there is nothing in the line, or nothing but a prompt of two words at most: "[root@host ~]#".
    [[nodiscard]] bool is_empty() const;

  private:
    void skip_blanks();
    void trim_end();
    void take_off_html();

    std::string text_;
    std::size_t begin_ = 0;
};

}  // namespace stapgen::decode
