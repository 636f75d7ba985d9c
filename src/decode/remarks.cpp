// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/remarks.h"

#include <algorithm>

#include "base/text.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::string_view systemtap_beginnings[]{"WARNING: ",
                                                  "ERROR: ",
                                                  "Number of errors: ",
                                                  "semantic error: ",
                                                  "parse error: ",
                                                  "Try again with another '--vp ",
                                                  "Tip: ",
                                                  "Checking \"",
                                                  "Missing separate debuginfos, use: ",
                                                  "Keeping temporary directory ",
                                                  "Executing: "};

constexpr std::string_view other_beginnings[]{
    "# tracer: ", "# latency: ", "# -----", "#  ", "# ========", "[ perf record: ", "Check IO/CPU overload!",
    "stapgen: "};

bool is_pass(std::string_view line) {
    return line.size() > 7 && line.starts_with("Pass ") && line[5] >= '1' && line[5] <= '5' && line[6] == ':';
}

/// The headings of ftrace above its columns, with or without the '#' before them.
bool is_column_heading(std::string_view line) {
    const bool is_drawing = line.find_first_not_of(" |/\\#") == std::string_view::npos && line.find('|') != line.npos;
    return is_drawing || line.find("--=> ") != line.npos || line.find(" latency trace v1.") != line.npos ||
           (line.find("TASK-PID") != line.npos && line.find("TIMESTAMP  FUNCTION") != line.npos);
}

/// The texts around the number.
struct LossText {
    std::string_view before, behind;
};

constexpr std::array loss_texts{LossText{" events and lost ", " chunks!"},  // perf record, perf script
                                LossText{"LOST ", " events!"},              // perf trace
                                LossText{"PERF_RECORD_LOST lost ", ""},     // perf script --show-lost-events
                                LossText{"Possibly lost ", " samples"},     // bcc
                                LossText{"Lost ", " events"},               // bpftrace
                                LossText{"Perf event ring buffer full, dropped ", " samples"},  // pwru up to 0.0.9
                                LossText{"due to BPF recursion misses\" total=", ""},           // pwru since 1.0.12
                                LossText{"due to BPF recursion misses total=", ""}};

/// ftrace and trace-cmd.
std::optional<std::int64_t> lost_by_buffer(std::string_view line) {
    std::int64_t number = 0;
    Scan scan{line};
    if (scan.skip("CPU:") && !scan.count(number)) return std::nullopt;
    scan.blanks();
    if (!scan.skip("[")) return std::nullopt;
    number = 1;
    const bool before = scan.skip("LOST ");
    if (scan.count(number) && !scan.skip(" ")) return std::nullopt;
    return scan.rest == (before ? "EVENTS]" : "EVENTS DROPPED]") ? std::optional(number) : std::nullopt;
}

/// ftrace, and perf of samples. Rounded as perf rounds its part.
std::optional<std::int64_t> lost_of_all(std::string_view line) {
    std::int64_t first = 0, second = 0;
    const auto at = line.find("entries-in-buffer/entries-written: ");
    Scan scan{line.substr(at == line.npos ? line.size() : line.find(' ', at) + 1)};
    if (scan.count(first) && scan.skip("/") && scan.count(second)) return std::max<std::int64_t>(second - first, 0);
    constexpr std::int64_t all = 10000;  // in 1/100 percent
    scan.rest = line;
    const bool is_part = scan.skip("Processed ") && scan.count(first) && scan.skip(" samples and lost ");
    scan.blanks();
    if (!is_part || !scan.fixed_point(second, 2) || second > all) return std::nullopt;
    return first / all * second + (first % all * second + all / 2) / all;
}

constexpr std::string_view loss_words[]{"DROP",   "LOST",   "LOSS",   "DISCARD",  "ERROR",
                                        "ERRS",   "_ERR",   "FAIL",   "OVERFLOW", "OVERRUN",
                                        "MISSED", "PRUNED", "REJECT", "NO_BUF",   "OUT_OF_BUF"};

}  // namespace

bool may_count_losses(std::string_view line) {
    const auto upper = base::upper(line);
    const auto has = [&](std::string_view word) { return upper.find(word) != upper.npos; };
    if (std::ranges::none_of(loss_words, has)) return false;
    return std::ranges::any_of(base::words(line), [](std::string_view word) {
        // "rx_dropped:5", "(dropped", "**3,300**"
        word = word.substr(word.find_last_of(":=") + 1);  // npos + 1 is 0
        while (!word.empty() && !base::is_word_character(word.front()))
            word.remove_prefix(1);
        while (!word.empty() && !base::is_word_character(word.back()))
            word.remove_suffix(1);
        return !word.empty() && word.find_first_not_of("0123456789,") == word.npos &&
               word.find_first_not_of("0,") != word.npos;
    });
}

bool is_gap(std::string_view line) {
    constexpr std::string_view ellipsis = "\xe2\x80\xa6";
    constexpr std::size_t longest_gap = 40;
    line = base::trim(line);
    if (line.size() > longest_gap) return false;
    const bool has_dots = line.find("..") != line.npos || line.find(". .") != line.npos ||
                          line.find(ellipsis) != line.npos || line == ":";
    const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    if (std::ranges::none_of(line, is_letter)) return has_dots && std::ranges::none_of(line, base::is_digit);
    // A name in brackets may be anything: "<snip>" and "[ skipped ]" are no names.
    const auto upper = base::upper(line);
    const auto begin = std::min(upper.find_first_not_of(" .-=*_~<[({"), upper.size());
    const auto word = std::string_view(upper).substr(begin);
    constexpr std::string_view words[]{"SNIP", "SKIP", "CUT", "OMITTED", "TRUNCATED", "ELIDED", "REMOVED"};
    if (begin > 0 && base::starts_with_any(word, words)) return true;
    return begin > 0 && base::is_digit(word[0]) && word.find(" MORE") != word.npos;
}

Remark remark(std::string_view line) {
    if (is_pass(line) || base::starts_with_any(line, systemtap_beginnings)) return Remark::systemtap;
    const bool is_perf_heading = line.starts_with("# ") && line.find(" : ") != std::string_view::npos;
    if (is_perf_heading || is_column_heading(line) || line == "#" || base::starts_with_any(line, other_beginnings))
        return Remark::other;
    return Remark::none;
}

std::optional<std::int64_t> lost_events(std::string_view line) {
    for (const auto& [before, behind] : loss_texts) {
        const auto at = line.find(before);
        if (at == std::string_view::npos) continue;
        std::int64_t number = 0;
        Scan scan{line.substr(at + before.size())};
        if (scan.count(number) && scan.skip(behind)) return number;
    }
    const auto lost = lost_by_buffer(line);
    return lost ? lost : lost_of_all(line);
}

}  // namespace stapgen::decode
