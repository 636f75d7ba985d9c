#include "decode/pwru_row.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/kernel_code.h"
#include "base/text.h"

namespace stapgen::decode {

namespace {

using RowWords = std::vector<std::string_view>;

bool is_skb(std::string_view word) {
    constexpr std::size_t shortest_skb = 10, max_skb_length = 18;  // of 32 and of 64 bits
    return word.size() >= shortest_skb && word.size() <= max_skb_length && word.starts_with("0x") &&
           base::from_hex(word);
}

/// "10.0.0.1:4->[fd00::2]:80(tcp)", ":0->:0()".
bool is_tuple(std::string_view word) {
    constexpr std::size_t max_tuple_length = 128;
    const auto arrow = word.find("->");
    return word.size() <= max_tuple_length && arrow != std::string_view::npos && word.ends_with(')') &&
           word.find(':') < arrow && word.find(':', arrow) != std::string_view::npos;
}

/// "ip_rcv", "vxlan_xmit[vxlan]", "0xffffffff8149a8ed".
bool is_function(std::string_view word) {
    const auto bracket = std::min(word.find('['), word.size());
    const auto end = is_skb(word.substr(0, bracket)) ? bracket : base::symbol_length(word);
    return end > 0 && word.size() <= base::max_symbol_length + base::max_module_length &&
           (end == word.size() || (word[end] == '[' && word.ends_with(']')));
}

/// Reads the function at `at`, and moves it behind.
bool read_function(const RowWords& words, std::size_t& at, PwruRow& row) {
    if (at >= words.size()) return false;
    const auto word = words[at++];
    const auto open = word.find('(');
    row.function = word.substr(0, open);
    if (!is_function(row.function)) return false;
    // Behind the name: "(SKB_DROP_REASON_NO_SOCKET)", and "(tc)" or "(xdp)" of a program of BPF. A reason without a
    // name is a word of its own: "(7)".
    auto behind = open == std::string_view::npos ? std::string_view() : word.substr(open);
    if (behind.starts_with("(SKB_") && behind.find(')') != std::string_view::npos) {
        row.reason = behind.substr(1, behind.find(')') - 1);
    } else if (behind.empty() && at < words.size() && words[at].starts_with('(') && words[at].ends_with(')')) {
        const auto number = words[at].substr(1, words[at].size() - 2);
        if (base::is_decimal(number)) {
            row.reason = number;
            ++at;
        }
    }
    return behind.empty() || behind.ends_with(')');
}

/// Where the function is of a row whose process, at `at`, is not in brackets and that has no tuple.
std::size_t find_function(const RowWords& words, std::size_t at) {
    ++at;
    const auto has_meta_at = [&](std::size_t first) {
        constexpr std::size_t proto = 3, meta = 6;
        return first + meta < words.size() && words[first + proto].starts_with("0x");
    };
    if (at + 1 < words.size() && base::is_decimal(words[at]) && !has_meta_at(at)) ++at;  // the time stamp
    if (has_meta_at(at)) at += 6;
    if (at < words.size() && words[at].starts_with("[0x")) ++at;  // __sk_buff->cb[]
    return at;
}

}  // namespace

std::optional<PwruRow> read_pwru_row(std::string_view line) {
    if (line.find("0x") == std::string_view::npos && line.find("->") == std::string_view::npos) return std::nullopt;
    const auto words = base::words(line);
    PwruRow row;
    std::size_t at = !words.empty() && !is_skb(words[0]) && words[0].find(':') != std::string_view::npos ? 1 : 0;
    const bool has_skb = at < words.size() && is_skb(words[at]);
    const auto tuple = static_cast<std::size_t>(std::ranges::find_if(words, is_tuple) - words.begin());
    bool is_last_column = true, has_cpu = true;
    if (has_skb) {
        row.packet = words[at++];
        has_cpu = at < words.size() && base::is_decimal(words[at]);
        at += has_cpu ? 1 : 0;
        if (at >= words.size()) return std::nullopt;
        if (words[at].starts_with('[')) {
            is_last_column = false;
            while (at < words.size() && !words[at].ends_with(']'))
                ++at;
            ++at;
        } else if (!has_cpu || words[at].find(':') == std::string_view::npos) {
            return std::nullopt;
        } else if (tuple == words.size()) {
            at = find_function(words, at);
        } else {
            at = tuple + 1;
        }
    } else {
        // What is left of a row: but a whole one behind a prompt is no rest.
        const auto before = std::span(words).first(tuple);
        const bool is_decorated = line.find('\x1b') != std::string_view::npos || std::ranges::any_of(before, is_skb);
        if (tuple == words.size() || is_decorated) return std::nullopt;
        row.packet = words[tuple];
        at = tuple + 1;
    }
    if (!read_function(words, at, row)) return std::nullopt;
    // Rows had a time stamp as long as they had no CPU.
    if (!has_cpu && (at >= words.size() || !base::is_decimal(words[at]))) return std::nullopt;
    if (is_last_column && at < words.size() && is_function(words[at])) row.caller = words[at];
    return row;
}

}  // namespace stapgen::decode
