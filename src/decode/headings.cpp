// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/headings.h"

#include <algorithm>

#include "base/text.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::size_t max_prompt = 128, max_heading = 80, max_heading_words = 6, max_source_name = 64;
constexpr std::string_view prompt_signs = "$#%>", decoration = "=-#*<>~_+|[]()`";

bool is_name_character(char c) {
    return base::is_word_character(c) || c == '-' || c == '.';
}

bool is_ipv4_address(std::string_view word) {
    const auto parts = base::split(word, '.');
    return parts.size() == 4 && std::ranges::all_of(parts, base::is_decimal);
}

/// Words that say when or how something was done, or what is below, and not whose it is.
constexpr std::string_view no_names =
    "A ABOUT ACTUAL ADDITIONAL AFTER AFTERWARDS AGAIN ALSO AM AN AND APR APRIL AT ATTEMPT AUG AUGUST BASE BASELINE "
    "BEFORE BEGIN BELOW COMMAND CONFIG CONFIGURATION DAY DAYS DEC DECEMBER DESCRIPTION DETAILS DURING EDIT END "
    "ENVIRONMENT EXPECTED FEB FEBRUARY FINAL FIRST FOLLOWING FOR FRI FROM HERE HOUR HOURS IDLE IN INFO INITIAL "
    "INTERVAL IPERF IPERF3 IS ISSUE ITERATION JAN JANUARY JUL JULY JUN JUNE LAST LATER LOAD LOG LOOP MAR MARCH MAY "
    "MIN MINS MINUTE MINUTES MON MS NETPERF NEW NEXT NOTE NOTES NOV NOVEMBER NOW OBSERVED OCT OCTOBER OF OLD ON ONE "
    "OUT OUTPUT PASS PING PM POST PRE PREVIOUS PROBLEM QUESTION REPRODUCE RESULT RESULTS ROUND RUN RUNNING S SAMPLE "
    "SAT SEC SECOND SECONDS SECS SEP SEPTEMBER SETUP SNAPSHOT START STARTED STATISTICS STATS STATUS STEP STEPS STOP "
    "STOPPED SUMMARY SUN TEST TESTS THE THEN THESE THIRD THIS THU TIME TIMESTAMP TO TRAFFIC TUE TWO TXT UNDER "
    "UPDATE UTC VERSION VERSIONS WAS WED WEEK WHEN WHILE WITH";

bool is_no_name(std::string_view word) {
    // "before.txt", "after-test"
    if (is_ipv4_address(word)) return false;
    const auto is_separator = [](char c) { return c == '.' || c == '-' || c == '_' || c == ',' || c == '/'; };
    while (!word.empty()) {
        const auto* const end = std::ranges::find_if(word, is_separator);
        const std::string_view part(word.begin(), end);
        const auto letters = part.substr(std::min(part.find_first_not_of("0123456789"), part.size()));
        if (!letters.empty() && !base::contains_word(no_names, base::upper(letters))) return false;
        word.remove_prefix(std::min(part.size() + 1, word.size()));
    }
    return true;
}

/// A number, a time, a date: "3", "#2", "10s", "00:26:51.5", "2020-11-17T00:26:51+01:00".
bool is_number_or_time(std::string_view word) {
    constexpr std::string_view units[]{"", "S", "MS", "M", "H", "SEC", "MIN", "TH", "ST", "ND", "RD", "Z"};
    if (word.starts_with('#') || word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    if (word.empty() || !base::is_digit(word[0]) || is_ipv4_address(word)) return false;
    if (word.size() > 10 && word[4] == '-' && word[10] == 'T') return true;
    const auto end = std::min(word.find_first_not_of("0123456789:.-+/"), word.size());
    return std::ranges::find(units, base::upper(word.substr(end))) != std::end(units);
}

/// The words that are names; the number behind one is of it, "node 1".
std::string names_in(const std::vector<std::string_view>& words) {
    std::string names;
    bool is_behind_name = false;
    for (auto word : words) {
        while (!word.empty() && std::string_view(".,;:").find(word.back()) != word.npos)
            word.remove_suffix(1);
        const bool is_number = is_number_or_time(word);
        if (is_number ? is_behind_name : !is_no_name(word)) {
            if (!names.empty()) names += ' ';
            names += word;
        }
        is_behind_name = !is_number && !is_no_name(word);
    }
    return names;
}

/// "n1" of "[root@n1", "(venv) root@n1:~#", "n1:~", "n1#".
std::string_view host_of_prompt(std::string_view prompt) {
    const auto words = base::words(prompt);
    constexpr std::size_t max_prompt_words = 4;
    if (words.empty() || words.size() > max_prompt_words) return {};
    for (std::size_t i = 0; i < 2 && i + words.size() <= max_prompt_words; ++i) {
        const auto at = i < words.size() ? words[i].find('@') : prompt.npos;
        if (at == prompt.npos) continue;
        const auto user = words[i].substr(words[i].find_last_of("[()", at) + 1);  // npos + 1 is 0
        const auto before = user.substr(0, user.find('@'));
        const auto behind = user.substr(before.size() + 1);
        const auto* const end = std::ranges::find_if_not(behind, is_name_character);
        const bool is_user = !before.empty() && std::ranges::all_of(before, is_name_character);
        const std::string_view host(behind.begin(), end);
        return is_user && is_host_name(host) ? host : std::string_view();
    }
    // SUSE's "n1:~ #", and "n1#" of those who have set it so; "sh-5.1#" and "bash-5.1$" name nobody.
    const auto colon = words[0].find(':');
    const auto alone = words[0].substr(0, words[0].size() - 1);
    const auto host = colon != words[0].npos ? words[0].substr(0, colon) : words.size() == 1 ? alone : "";
    const auto name = host.substr(0, host.find('-'));
    const bool is_path = colon == words[0].npos || base::contains_word("~ /", words[0].substr(colon + 1, 1));
    const bool is_shell = base::contains_word("sh bash zsh ksh ash dash", name);
    return is_path && !is_shell && is_host_name(host) ? host : std::string_view();
}

}  // namespace

bool is_host_name(std::string_view word) {
    return !word.empty() && word.size() <= max_source_name && std::ranges::all_of(word, is_name_character) &&
           (!base::is_digit(word[0]) || is_ipv4_address(word)) && base::is_word_character(word[0]) &&
           !word.starts_with("localhost");
}

std::optional<PromptLine> read_prompt(std::string_view line) {
    line = base::trim(line);
    std::optional<PromptLine> found;
    std::size_t begin = 0;
    const auto here = line.substr(0, max_prompt);
    for (auto at = here.find_first_of(prompt_signs); at != here.npos; at = here.find_first_of(prompt_signs, at + 1)) {
        if (at + 1 < line.size() && line[at + 1] != ' ' && line[at + 1] != '\t') continue;
        const auto prompt = base::trim(line.substr(begin, at + 1 - begin));
        const auto host = host_of_prompt(prompt), command = base::trim(line.substr(at + 1));
        if (!host.empty()) return PromptLine{prompt, host, command};
        // "> $ netstat": marks one behind the other; else a shell's name for itself, or busybox's "/ #".
        const auto words = base::words(prompt);
        const bool is_busybox =
            words.size() == 2 && words[1].size() == 1 && base::contains_word("/ ~", words[0].substr(0, 1));
        const bool is_prompt =
            is_busybox ||
            (words.size() == 1 && (prompt.find('@') != prompt.npos || prompt.find_first_of("=:,;") == prompt.npos));
        if (!is_prompt) break;
        found = PromptLine{prompt, {}, command};
        if (command.empty() || prompt_signs.find(command[0]) == prompt_signs.npos) {
            if (command.substr(0, max_source_name).find('@') == command.npos) break;
        }
        begin = at + 1;
    }
    return found;
}

std::string_view source_name(std::string_view prefix) {
    constexpr std::string_view no_sources = "STDOUT STDERR F P INFO WARN WARNING ERROR ERR DEBUG NOTICE TRACE";
    for (auto word : base::words(prefix)) {
        while (!word.empty() && decoration.find(word[0]) != decoration.npos)
            word.remove_prefix(1);
        const auto* const end = std::ranges::find_if_not(word, [](char c) { return is_name_character(c) || c == '/'; });
        word = std::string_view(word.begin(), end);
        const bool is_name = word.size() <= max_source_name && !word.empty() &&
                             (is_ipv4_address(word) || (!base::is_digit(word[0]) && base::is_word_character(word[0])));
        if (is_name && !is_no_name(word) && !base::contains_word(no_sources, base::upper(word))) return word;
    }
    return {};
}

std::optional<Heading> read_heading(std::string_view line) {
    constexpr std::ptrdiff_t most_quotes = 2;  // of mails
    constexpr std::size_t words_before_colon = 3;
    if (line.starts_with(' ') || line.starts_with('\t') || line.size() > max_heading) return std::nullopt;
    const auto is_decoration = [](char c) { return c == ' ' || decoration.find(c) != decoration.npos; };
    auto text = unquoted(line);
    const auto quotes = std::ranges::count(line.substr(0, line.size() - text.size()), '>');
    text = base::trim(text);
    for (const std::string_view pattern : {"* | * | rc=*", "* | * => *", "ok: [*] => *", "changed: [*] => *"}) {
        const auto stars = base::match(pattern, text);
        if (!stars || !is_host_name(stars->front())) continue;
        return Heading{std::string(stars->front()), std::string(stars->front()), true, false};
    }
    const std::string_view front(text.begin(), std::ranges::find_if_not(text, is_decoration));
    if (text.empty() && quotes == 0) return std::nullopt;
    text.remove_prefix(front.size());
    while (!text.empty() && is_decoration(text.back()))
        text.remove_suffix(1);
    if (text.empty()) return Heading{{}, {}, true, false};
    const bool has_colon = text.ends_with(':');
    if (has_colon) text.remove_suffix(1);
    const auto words = base::words(text);
    if (words.empty() || words.size() > max_heading_words) return std::nullopt;
    const bool is_decorated = front.size() - std::ranges::count(front, ' ') > 1 || quotes > most_quotes;
    Heading heading{std::string(text), names_in(words), is_decorated, false};
    if (is_decorated || (has_colon && words.size() <= words_before_colon)) return heading;
    heading.is_word = words.size() == 1 && std::ranges::any_of(text, base::is_digit) && is_host_name(text);
    return heading.is_word ? std::optional(heading) : std::nullopt;
}

}  // namespace stapgen::decode
