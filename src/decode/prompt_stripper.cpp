// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/prompt_stripper.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <utility>

#include "base/text.h"

namespace stapgen::decode {

namespace {

constexpr std::size_t max_prompt_length = 128;
constexpr char escape = '\x1b';

/// How long the escape sequence is that `text` begins with: ESC [ ... letter, ESC ] ... BEL, or ESC and one more.
std::size_t escape_length(std::string_view text) {
    if (text.size() < 2) return text.size();
    std::size_t at = 2;
    if (text[1] == '[') {
        while (at < text.size() && (text[at] < '@' || text[at] > '~'))
            ++at;
        return std::min(at + 1, text.size());
    }
    if (text[1] == ']') {
        while (at < text.size() && text[at] != '\a' && text[at] != escape)
            ++at;
        if (at < text.size() && text[at] == escape) ++at;  // ESC backslash ends it, too
        return std::min(at + 1, text.size());
    }
    return at;
}

/// Texts between < and >. A person's "<snip>", ftrace's "<stack trace>", a task's "<idle>" and ip's flags are
/// none.
bool is_tag(std::string_view tag) {
    constexpr std::string_view elements =
        "A ABBR ARTICLE B BLOCKQUOTE BODY BR CENTER CITE CODE DD DEL DETAILS DIV DL DT EM FONT H1 H2 H3 H4 H5 H6 HEAD "
        "HR HTML I IMG INS KBD LI MAIN MARK OL P PRE S SAMP SECTION SMALL SPAN STRONG SUB SUMMARY SUP TABLE TBODY TD "
        "TEXTAREA TFOOT TH THEAD TITLE TR TT U UL VAR";
    constexpr std::size_t max_tag_length = 64;
    if (tag.starts_with('/')) tag.remove_prefix(1);
    const auto name = tag.substr(0, tag.find_first_of(" /"));
    const bool has_words = tag.find(' ') != tag.npos && tag.find('=') == tag.npos && !tag.ends_with('/');
    return tag.size() <= max_tag_length && !has_words && base::contains_word(elements, base::upper(name));
}

}  // namespace

bool ends_with_tag(std::string_view text) {
    const auto begin = text.ends_with('>') ? text.rfind('<') : text.npos;
    return begin != text.npos && is_tag(text.substr(begin + 1, text.size() - begin - 2));
}

void PromptStripper::set(std::string_view line) {
    text_.clear();
    begin_ = left_ = 0;
    for (std::size_t at = 0; at < line.size();) {
        const auto next = std::min(line.find(escape, at), line.size());
        text_ += line.substr(at, next - at);
        at = next;
        if (at < line.size()) at += escape_length(line.substr(at));
    }
    take_off_html();
    trim_end();
    for (const std::string_view mark : {"*/", "-->"}) {
        if (text_.ends_with(mark)) text_.resize(text_.size() - mark.size());
    }
    trim_end();
    skip_blanks();
}

void PromptStripper::trim_end() {
    const auto end = text_.find_last_not_of(" \t\r");
    text_.resize(end == std::string::npos ? 0 : end + 1);
}

/// Tags at both ends, and what stands for the signs that HTML uses itself.
void PromptStripper::take_off_html() {
    while (text_.starts_with('<')) {
        const auto end = text_.find('>');
        if (end == std::string::npos || !is_tag(std::string_view(text_).substr(1, end - 1))) break;
        text_.erase(0, end + 1);
    }
    while (ends_with_tag(text_))
        text_.erase(text_.rfind('<'));
    if (text_.find('&') == std::string::npos) return;
    for (const auto& [written, sign] : {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&quot;", "\""),
                                        std::pair("&nbsp;", " "), std::pair("&amp;", "&")}) {
        boost::algorithm::replace_all(text_, written, sign);
    }
}

/// And what a terminal shows of Ctrl-C.
void PromptStripper::skip_blanks() {
    const auto skip = [this] { begin_ = std::min(text_.find_first_not_of(" \t\r", begin_), text_.size()); };
    skip();
    while (text().starts_with("^C")) {
        begin_ += 2;
        skip();
    }
}

bool PromptStripper::strip_prompt() {
    const auto here = text().substr(0, max_prompt_length);
    for (auto at = here.find_first_of("$#%>"); at != std::string_view::npos; at = here.find_first_of("$#%>", at + 1)) {
        const auto behind = begin_ + at + 1;
        if (behind < text_.size() && text_[behind] != ' ' && text_[behind] != '\t') continue;
        begin_ = behind;
        left_ = std::min(behind + 1, text_.size());
        skip_blanks();
        return true;
    }
    return false;
}

std::optional<PromptStripper::Marked> PromptStripper::behind_mark() const {
    const auto here = text();
    const auto digits = std::min(here.find_first_not_of("0123456789"), here.size());
    auto length = digits;
    if (digits == 0) {
        length = std::min(here.find_first_of(" \t"), here.size());
        constexpr std::string_view marks = "| : * - // \xe2\x80\xa2";
        if (!base::contains_word(marks, here.substr(0, length))) return std::nullopt;
    } else if (std::string_view(":.)").find(here.substr(length, 1)) != std::string_view::npos) {
        ++length;
    }
    const auto behind = base::trim(here.substr(std::min(length, here.size())));
    const bool has_blank = length < here.size() && (here[length] == ' ' || here[length] == '\t');
    if (behind.empty() || (!has_blank && here[length - 1] != ':')) return std::nullopt;
    if (digits == 0 || length > digits || here[length] == '\t') return Marked{behind};
    const auto column = begin_ - left_ + digits;
    if (column == numbered_column && here.substr(length).starts_with("  ")) return Marked{behind};
    const auto times = line_count(here.substr(0, digits));
    if (!times || (*times != 1 && !is_counted_column(column))) return std::nullopt;
    return Marked{behind, *times, true};
}

std::size_t annotation_begin(std::string_view line) {
    constexpr std::string_view arrows[]{"<--",          "<- ",          "<==",          "<= ",          "<<",
                                        "//",           "/*",           "!!",           "***",          "^^",
                                        "\xe2\x86\x90", "\xe2\x9f\xb5", "\xe2\x87\x90", "\xe2\x97\x80", "\xe2\x97\x84"};
    for (auto at = line.find_first_of(" \t"); at != line.npos; at = line.find_first_of(" \t", at + 1)) {
        const auto behind = line.substr(at + 1);
        if (at > 0 && (behind.starts_with('#') || base::starts_with_any(behind, arrows))) return at;
    }
    return line.npos;
}

std::optional<std::string> PromptStripper::without_annotation() const {
    constexpr std::string_view arrow = "\xe2\x86\x92 ";
    const auto all = base::trim(text_);
    std::string plain(base::trim(all.substr(0, annotation_begin(all))));
    for (const auto& [written, sign] : {std::pair("**", ""), std::pair("`", ""), std::pair("\\_", "_")})
        boost::algorithm::replace_all(plain, written, sign);
    if (plain.starts_with(arrow)) plain.erase(0, arrow.size());
    if (plain.starts_with('!') || plain.starts_with("*** ")) plain.erase(0, plain.find_first_not_of("!* "));
    return plain.empty() || plain == all ? std::nullopt : std::optional(plain);
}

std::optional<std::int64_t> line_count(std::string_view word) {
    constexpr std::size_t max_digits = 9;  // more are seconds since 1970
    return word.size() <= max_digits && base::is_decimal(word) ? base::to_int(word) : std::nullopt;
}

bool PromptStripper::is_empty() const {
    const std::string_view all(text_);
    if (text().empty()) return true;
    // "<snip>" is none.
    const bool is_bracketed = base::trim(all).starts_with('<');
    if (all.size() > max_prompt_length || is_bracketed || std::string_view("$#%>").find(all.back()) == all.npos)
        return false;
    return base::words(all).size() <= 2;
}

}  // namespace stapgen::decode
