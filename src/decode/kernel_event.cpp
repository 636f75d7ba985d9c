// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/kernel_event.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/kernel.h"
#include "base/text.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::string_view between_words = " \t";

/// The place of the "[003]" that names the CPU, npos if there is none.
std::size_t find_cpu(std::string_view line) {
    for (auto at = line.find('['); at != std::string_view::npos; at = line.find('[', at + 1)) {
        auto end = at + 1;
        while (end < line.size() && base::is_digit(line[end]))
            ++end;
        if (end >= at + 4 && end < line.size() && line[end] == ']') return at;
    }
    return std::string_view::npos;
}

/// "12:wget" and "a.log:12:wget": what grep puts before a line. A colon alone may be of a name: "kworker/0:1".
bool has_line_number(std::string_view text) {
    for (auto colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
        const auto digits = begin_of_last_digits(text.substr(0, colon));
        if (digits < colon && (digits == 0 || text[digits - 1] == ':')) return true;
    }
    return false;
}

/// A name may be of any characters. What looks like a prompt, a colour code, HTML or another tool's prefix is taken for
/// that: it would be in the name of each process, without a word. It has 15 bytes, but for a kernel thread's with the
/// name of its workqueue.
bool is_comm(std::string_view text) {
    const std::size_t max_length = text.starts_with("kworker/") ? 63 : 15;
    if (text.empty() || text.size() > max_length || text.starts_with("^C") ||
        text.find('\x1b') != std::string_view::npos)
        return false;
    if (text.starts_with('<')) return text == "<idle>" || text == "<...>";
    if (std::string_view("$#%>").find(text.back()) != std::string_view::npos) return false;
    const auto entity = text.find('&');
    if ((entity != std::string_view::npos && text.find(';', entity) != std::string_view::npos) || has_line_number(text))
        return false;
    for (auto at = text.find_first_of(between_words); at != std::string_view::npos;
         at = text.find_first_of(between_words, at + 1)) {
        if (at > 0 && std::string_view("$#%>:|)]").find(text[at - 1]) != std::string_view::npos) return false;
    }
    return text.find_first_of(between_words) == std::string_view::npos ||
           std::isalpha(static_cast<unsigned char>(text[0])) != 0;
}

/// "memcached 1234/1236" and "memcached-1236 ( 1234)": name and thread.
bool read_thread(std::string_view head, KernelEvent& event) {
    head = base::trim(head);
    if (head.ends_with(')')) head = base::trim(head.substr(0, head.rfind('(')));
    auto begin = begin_of_last_digits(head);
    if (begin == head.size() || begin == 0) return false;
    const auto raw = head.substr(begin);
    const auto tid = base::to_int(raw);
    if (!tid) return false;
    event.tid = {raw, *tid};
    const char border = head[begin - 1];
    --begin;
    if (border == '/') {
        begin = begin_of_last_digits(head.substr(0, begin));
    } else if (border != ' ' && border != '\t' && border != '-') {
        return false;
    }
    event.comm = {base::trim(head.substr(0, begin))};
    if (event.comm.raw.empty() && *tid == 0) event.comm = {"<idle>"};  // taken for a tag of HTML somewhere
    return is_comm(event.comm.raw);
}

/// "5123.456789" at the front of `scan`, with the digits after the point converted to ns.
bool read_time(Scan& scan, int digits, KernelEvent& event) {
    const auto before = scan.rest;
    std::int64_t time = 0;
    if (!scan.fixed_point(time, digits) || time < 0) return false;
    event.time = {before.substr(0, before.size() - scan.rest.size()), time};
    return true;
}

/// In s, and the colon behind it; if one is missing nothing is taken off.
bool read_time_and_colon(Scan& scan, KernelEvent& event) {
    auto after = scan;
    if (!read_time(after, 9, event) || !after.skip(":")) return false;
    scan = after;
    return true;
}

/// "net:net_dev_xmit: dev=eth0 ...".
bool read_name(std::string_view text, KernelEvent& event) {
    const auto end = text.find(": ");
    if (end == std::string_view::npos) return false;
    event.name = text.substr(0, end);
    event.name.remove_prefix(event.name.rfind(':') + 1);
    event.arguments = base::trim(text.substr(end + 2));
    return !event.name.empty() && event.name.find(' ') == std::string_view::npos;
}

/// Takes the last word off `head`, and the blanks before it.
std::string_view take_last_word(std::string_view& head) {
    const auto begin = head.rfind(' ') + 1;  // 0 if there is none
    const auto word = head.substr(begin);
    head = base::trim(head.substr(0, begin));
    return word;
}

/// "12us", "12us+" of ftrace's latency-format, or "5123.456789": what precedes a ':'.
bool read_short_time(std::string_view word, KernelEvent& event) {
    Scan scan{word};
    std::int64_t us = 0;
    std::string_view raw;
    if (scan.count(us, raw) && scan.skip("us") && scan.rest.size() <= 1) {
        constexpr std::int64_t ns_of_us = 1000;
        if (us > std::numeric_limits<std::int64_t>::max() / 2 / ns_of_us) return false;
        event.time = {raw, us * ns_of_us};
        return true;
    }
    scan.rest = word;
    return read_time(scan, 9, event) && scan.rest.empty();
}

/// "d.s2.", or "3d.s2." of the latency-format with the CPU before the flags of the moment. False: the word is none.
bool read_flags(std::string_view word, KernelEvent& event) {
    constexpr std::size_t min_length = 4, max_length = 8;
    Scan scan{word};
    std::int64_t cpu = 0;
    std::string_view raw;
    const bool has_cpu = scan.count(cpu, raw);
    if (scan.rest.size() < min_length || scan.rest.size() > max_length) return false;
    if (!std::ranges::all_of(scan.rest, [](char c) { return c == '.' || c == '#' || base::is_word_character(c); })) {
        return false;
    }
    if (has_cpu) event.cpu = {raw, cpu};
    return true;
}

/// An event's line that does not say "[003]": of the latency-format, or cut.
std::optional<KernelEvent> read_without_cpu(std::string_view line) {
    const auto text = base::trim(line);
    const auto is_name = [](std::string_view word) {
        return word.size() > 1 && word.back() == ':' && !base::is_digit(word[0]) &&
               std::ranges::all_of(word, [](char c) { return c == ':' || base::is_word_character(c); });
    };
    std::size_t begin = 0, end = 0;
    do {
        if (begin = text.find_first_not_of(' ', end); begin == std::string_view::npos) return std::nullopt;
        end = std::min(text.find(' ', begin), text.size());
    } while (!is_name(text.substr(begin, end - begin)));
    KernelEvent event;
    if (!read_name(text.substr(begin), event)) return std::nullopt;
    auto head = base::trim(text.substr(0, begin));
    if (head.empty()) return event;
    if (!head.ends_with(':')) return std::nullopt;
    head = base::trim(head.substr(0, head.size() - 1));
    if (!read_short_time(take_last_word(head), event)) return std::nullopt;
    auto before = head;
    if (read_flags(take_last_word(before), event)) head = before;
    if (!head.empty() && !read_thread(head, event)) return std::nullopt;
    return event;
}

std::size_t word_length(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, base::is_word_character) - text.begin());
}

/// Where "net:net_dev_xmit(" or "net:net_dev_xmit:" begins, a word of its own; npos if it is nowhere.
std::size_t find_event(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); at = std::min(text.find(' ', at), text.size() - 1) + 1) {
        auto rest = text.substr(at);
        const auto group = word_length(rest);
        if (group == 0 || group == rest.size() || rest[group] != ':') continue;
        rest.remove_prefix(group + 1);
        const auto name = word_length(rest);
        if (name > 0 && name < rest.size() && (rest[name] == '(' || rest[name] == ':')) return at;
    }
    return std::string_view::npos;
}

/// "ping/1236": the name may have blanks and slashes.
bool read_comm_and_tid(std::string_view head, KernelEvent& event) {
    const auto slash = head.rfind('/');
    if (slash == std::string_view::npos) return false;
    const auto raw = head.substr(slash + 1);
    const auto tid = base::to_int(raw);
    if (!tid) return false;
    event.comm = {head.substr(0, slash)};
    event.tid = {raw, *tid};
    constexpr std::size_t max_comm_length = 15;
    return event.comm.raw.size() <= max_comm_length;
}

/// The lines of perf trace:
///     12.345 (         ): ping/1236 net:net_dev_xmit:dev=eth0 skbaddr=0xffff8800cda03400 len=66 rc=0)       up to 5.3
///     12.345 net:net_dev_xmit(skbaddr: 0xffff8800cda03400, len: 66, name: "eth0")      of one thread alone; since 5.4
std::optional<KernelEvent> read_perf_trace_event(std::string_view line) {
    KernelEvent event;
    Scan scan{base::trim(line)};
    constexpr int ns_of_ms = 6;
    if (!read_time(scan, ns_of_ms, event) || !scan.rest.starts_with(' ')) return std::nullopt;
    scan.blanks();
    if (scan.skip("(")) {
        // How long a system call took: nothing, for an event.
        const auto end = scan.rest.find("): ");
        if (end == std::string_view::npos) return std::nullopt;
        scan.rest.remove_prefix(end + 3);
        scan.blanks();
    }
    const auto begin = find_event(scan.rest);
    if (begin == std::string_view::npos) return std::nullopt;
    const auto head = base::trim(scan.rest.substr(0, begin));
    if (!head.empty() && !read_comm_and_tid(head, event)) return std::nullopt;
    scan.rest.remove_prefix(scan.rest.find(':', begin) + 1);
    const auto length = word_length(scan.rest);
    event.name = scan.rest.substr(0, length);
    event.zeros_left_out = scan.rest[length] == '(';
    event.arguments = scan.rest.substr(length + 1);
    if (event.arguments.ends_with(')')) {
        // Up to 5.3 the one that ends the line has none that it belongs to.
        const auto word = event.arguments.substr(event.arguments.rfind(' ') + 1);
        if (event.zeros_left_out || word.find('(') == std::string_view::npos) event.arguments.remove_suffix(1);
    } else if (event.zeros_left_out) {
        return std::nullopt;
    }
    return event;
}

}  // namespace

std::optional<KernelEvent> read_kernel_event(std::string_view line) {
    const auto at = find_cpu(line);
    if (at == std::string_view::npos) {
        const auto event = read_perf_trace_event(line);
        return event ? event : read_without_cpu(line);
    }
    KernelEvent event;
    if (!read_thread(line.substr(0, at), event)) return std::nullopt;
    Scan scan{line.substr(at + 1)};
    std::int64_t cpu = 0;
    std::string_view raw;
    if (!scan.count(cpu, raw) || !scan.skip("]")) return std::nullopt;
    event.cpu = {raw, cpu};
    scan.blanks();
    if (!read_time_and_colon(scan, event)) {
        // ftrace: the flags of the moment, "d.s2.".
        const auto flags = std::min(scan.rest.find(' '), scan.rest.size());
        scan.rest.remove_prefix(flags);
        scan.blanks();
        if (flags > 8 || !read_time_and_colon(scan, event)) return std::nullopt;
    }
    scan.blanks();
    return read_name(scan.rest, event) ? std::optional(event) : std::nullopt;
}

std::string_view KernelEvent::argument(std::string_view field) const {
    for (auto at = arguments.find(field); at != std::string_view::npos; at = arguments.find(field, at + 1)) {
        if (at != 0 && arguments[at - 1] != ' ') continue;
        auto value = arguments.substr(at + field.size());
        if (value.starts_with('=')) return value.substr(1, value.find(' ') - 1);
        if (!value.starts_with(':')) continue;
        value = base::trim(value.substr(1, value.find(',') - 1));
        if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
        return value;
    }
    return {};
}

Value reason_value(std::string_view text) {
    if (text.starts_with(base::drop_reason_prefix)) text.remove_prefix(base::drop_reason_prefix.size());
    return text.empty() ? not_seen : Value{text};
}

bool is_stack_line(std::string_view line) {
    const auto text = base::trim(line);
    if (text.starts_with("=> ") || text.ends_with(": <stack trace>")) return true;
    const auto blank = std::min(text.find(' '), text.size());
    if (!text.ends_with(')')) return false;
    const auto object = text.substr(blank);
    if (object.starts_with(" ([") || object.starts_with(" (/")) return true;
    // "4001 drops at icmp_rcv+12d (0xffffffff8176ac9d)" is dropwatch's.
    return blank >= 4 && blank <= 16 && !object.starts_with(" drops at ") &&
           text.substr(0, blank).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace stapgen::decode
