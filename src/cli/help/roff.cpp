#include "cli/help/roff.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stapgen::cli {

namespace {

/// Hyphens are typed by those who copy an option, so they stay what they are; a dot or an apostrophe that begins a line
/// would begin a request.
std::string escaped(std::string_view text) {
    std::string out;
    if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
    for (const char c : text) {
        switch (c) {
            case '\\':
                out += "\\e";
                break;
            case '-':
                out += "\\-";
                break;
            case '~':
                out += "\\(ti";
                break;
            case '^':
                out += "\\(ha";
                break;
            case '`':
                out += "\\(ga";
                break;
            case '\'':
                out += "\\(aq";
                break;
            default:
                out += c;
        }
    }
    return out;
}

/// An argument of a macro.
std::string argument(std::string_view text) {
    std::string out;
    for (const char c : escaped(text))
        out += c == '"' ? std::string("\\(dq") : std::string(1, c);
    return '"' + out + '"';
}

}  // namespace

Roff::Roff(std::string_view name, std::string_view date, std::string_view version)
    : text_(fmt::format(".TH {} 1 {} {} \"User Commands\"\n", argument(base::upper(name)), date, argument(version))) {}

void Roff::section(std::string_view title) {
    text_ += fmt::format(".SH {}\n", argument(title));
    behind_heading_ = true;
}

void Roff::subsection(std::string_view title) {
    text_ += fmt::format(".SS {}\n", argument(title));
    behind_heading_ = true;
}

void Roff::begin_paragraph() {
    if (!behind_heading_) text_ += ".PP\n";
    behind_heading_ = false;
}

void Roff::title(std::string_view name, std::string_view what) {
    text_ += fmt::format("{} \\- {}\n", escaped(name), escaped(what));
}

void Roff::paragraph(std::string_view text) {
    if (base::trim(text).empty()) return;
    begin_paragraph();
    for (const auto line : base::split(base::trim(text), '\n'))
        text_ += base::trim(line).empty() ? ".PP\n" : escaped(base::trim(line)) + '\n';
}

void Roff::command(std::string_view text) {
    text_ += fmt::format(".B {}\n", argument(text));
}

void Roff::item(std::string_view term, std::string_view text) {
    behind_heading_ = false;
    text_ += fmt::format(".TP\n.B {}\n", argument(term));
    for (const auto line : base::split(base::trim(text), '\n'))
        text_ += escaped(base::trim(line)) + '\n';
}

void Roff::lines(const std::vector<std::string>& lines) {
    begin_paragraph();
    text_ += ".nf\n";
    for (const auto& line : lines)
        text_ += fmt::format(".RS 2\n{}\n.RE\n", escaped(line));
    text_ += ".fi\n";
}

void Roff::lines_of(std::string_view text) {
    if (base::trim(text).empty()) return;
    begin_paragraph();
    text_ += ".nf\n";
    for (const auto line : base::split(base::trim(text), '\n'))
        text_ += escaped(line) + '\n';
    text_ += ".fi\n";
}

void Roff::references(const std::vector<std::string>& pages,
                      const std::vector<std::pair<std::string, std::string>>& others) {
    auto all = others;
    std::size_t at = 0;
    for (const auto& page : pages)
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(at++), {page, "1"});
    for (std::size_t number = 0; number < all.size(); ++number) {
        const auto& [page, section] = all[number];
        text_ += fmt::format(".BR {} ({}){}\n", escaped(page), section, number + 1 < all.size() ? "," : "");
    }
}

}  // namespace stapgen::cli
