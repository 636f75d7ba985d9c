// SPDX-License-Identifier: GPL-2.0-or-later
#include "disguise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/algorithm/string/replace.hpp>

namespace stapgen::disguises {

namespace {

/// Some lines are of one second.
std::string clock(std::size_t number) {
    const auto second = 3540 + 7 * number / 3;
    return fmt::format("{:02}:{:02}:{:02}", second / 3600 % 24, second / 60 % 60, second % 60);
}

Lines escape(Lines lines) {
    for (auto& line : lines) {
        boost::algorithm::replace_all(line, "&", "&amp;");
        boost::algorithm::replace_all(line, "<", "&lt;");
        boost::algorithm::replace_all(line, ">", "&gt;");
        boost::algorithm::replace_all(line, "\"", "&quot;");
    }
    return lines;
}

Lines enclose(Lines lines, std::string_view open, std::string_view close) {
    if (lines.empty()) return lines;
    lines.front().insert(0, open);
    lines.back() += close;
    return lines;
}

/// Of ASCII and the signs of the prefixes: none is beyond the first plane.
std::string utf16(std::string_view utf8, bool little, bool has_mark) {
    std::string out;
    const auto put = [&](unsigned unit) {
        const char high = static_cast<char>(unit >> 8U), low = static_cast<char>(unit & 0xffU);
        out += little ? low : high;
        out += little ? high : low;
    };
    if (has_mark) put(0xfeff);
    for (std::size_t at = 0; at < utf8.size();) {
        const auto byte = static_cast<unsigned char>(utf8[at]);
        const std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : 3;
        unsigned unit = length == 1 ? byte : length == 2 ? byte & 0x1fU : byte & 0x0fU;
        for (std::size_t i = 1; i < length; ++i)
            unit = unit << 6U | (static_cast<unsigned char>(utf8[at + i]) & 0x3fU);
        put(unit);
        at += length;
    }
    return out;
}

}  // namespace

const std::vector<Prefix>& prefixes() {
    static const std::vector<Prefix> all{
        {"none", [](std::size_t) { return std::string(); }},
        {"kubectl logs --prefix", [](std::size_t) { return std::string("[pod/net-debug-x7k2p/perf] "); }},
        {"container's log", [](std::size_t n) { return "2026-11-17T" + clock(n) + ".123456789Z stdout F "; }},
        {"docker compose", [](std::size_t) { return std::string("net-debug-1  | "); }},
        {"journald", [](std::size_t n) { return "Nov 17 " + clock(n) + " gate perf[4711]: "; }},
        {"syslog", [](std::size_t n) { return "<30>2026-11-17T" + clock(n) + ".123456+00:00 gate perf: "; }},
        {"kernel log", [](std::size_t n) { return fmt::format("[{:5}.{:06}] ", 5123 + n, 1009 * n); }},
        {"ts", [](std::size_t n) { return "Nov 17 " + clock(n) + " "; }},
        {"ts -s", [](std::size_t n) { return clock(n) + " "; }},
        {"ts %.s", [](std::size_t n) { return fmt::format("1795208074.{:06} ", 1009 * n); }},
        {"grep -n", [](std::size_t n) { return fmt::format("{}:", n + 8); }},
        {"grep -Hn", [](std::size_t n) { return fmt::format("drops-1.log:{}:", n + 8); }},
        {"pdsh", [](std::size_t) { return std::string("gate-7: "); }},
        {"cat -n", [](std::size_t n) { return fmt::format("{:6}\t", n + 1); }},
        {"list with numbers", [](std::size_t n) { return fmt::format("{}. ", n + 1); }},
        {"bullet", [](std::size_t) { return std::string("\xe2\x80\xa2 "); }},
        {"dash", [](std::size_t) { return std::string("- "); }},
        {"quoted mail", [](std::size_t) { return std::string("> "); }},
        {"quoted mail, nested", [](std::size_t) { return std::string("> >> "); }},
        {"indented", [](std::size_t) { return std::string("    "); }},
    };
    return all;
}

const std::vector<Quoting>& quotings() {
    static const std::vector<Quoting> all{
        {"plain", [](Lines lines) { return lines; }},
        {"fence",
         [](Lines lines) {
             lines.insert(lines.begin(), "```text");
             lines.emplace_back("```");
             return lines;
         }},
        {"<pre><code>", [](Lines lines) { return enclose(escape(std::move(lines)), "<pre><code>", "</code></pre>"); }},
        {"paragraphs",
         [](Lines lines) {
             for (auto& line : lines = escape(std::move(lines)))
                 line = "<p>" + line + "</p>";
             return lines;
         }},
        {"no-break spaces",
         [](Lines lines) {
             for (auto& line : lines)
                 boost::algorithm::replace_all(line, " ", "\xc2\xa0");
             return lines;
         }},
    };
    return all;
}

const std::vector<LineEnds>& line_ends() {
    static const std::vector<LineEnds> all{
        {"LF", [](const Lines& lines) { return fmt::format("{}\n", fmt::join(lines, "\n")); }},
        {"CRLF", [](const Lines& lines) { return fmt::format("{}\r\n", fmt::join(lines, "\r\n")); }},
        {"last line open", [](const Lines& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }},
    };
    return all;
}

const std::vector<Encoding>& encodings() {
    static const std::vector<Encoding> all{
        {"UTF-8", [](std::string_view text) { return std::string(text); }},
        {"UTF-8 with mark", [](std::string_view text) { return "\xef\xbb\xbf" + std::string(text); }},
        {"UTF-16LE", [](std::string_view text) { return utf16(text, true, false); }},
        {"UTF-16LE with mark", [](std::string_view text) { return utf16(text, true, true); }},
        {"UTF-16BE", [](std::string_view text) { return utf16(text, false, false); }},
        {"UTF-16BE with mark", [](std::string_view text) { return utf16(text, false, true); }},
    };
    return all;
}

Lines put_before(const Prefix& prefix, Lines lines) {
    for (std::size_t i = 0; i < lines.size(); ++i)
        lines[i].insert(0, prefix.of(i));
    return lines;
}

}  // namespace stapgen::disguises
