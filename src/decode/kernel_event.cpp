#include "decode/kernel_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/text.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::string_view between_words = " \t";

bool is_hexadecimal(char c) {
    return base::is_digit(c) || (c >= 'a' && c <= 'f');
}

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
        auto digits = colon;
        while (digits > 0 && base::is_digit(text[digits - 1]))
            --digits;
        if (digits < colon && (digits == 0 || text[digits - 1] == ':')) return true;
    }
    return false;
}

/// A name may be of any characters. What looks like a prompt, a colour code, HTML or another tool's prefix is taken for
/// that: it would be in the name of each process, without a word. It has 15 bytes, but for a kernel thread's with the
/// name of its workqueue.
bool is_comm(std::string_view text) {
    const std::size_t longest = text.starts_with("kworker/") ? 63 : 15;
    if (text.empty() || text.size() > longest || text.starts_with("^C") || text.find('\x1b') != std::string_view::npos)
        return false;
    if (text.starts_with('<')) return text == "<idle>" || text == "<...>";
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
    auto begin = head.size();
    while (begin > 0 && base::is_digit(head[begin - 1]))
        --begin;
    if (begin == head.size() || begin == 0) return false;
    event.tid.raw = head.substr(begin);
    const auto tid = base::to_int(event.tid.raw);
    if (!tid) return false;
    event.tid.number = *tid;
    const char border = head[begin - 1];
    --begin;
    if (border == '/') {
        while (begin > 0 && base::is_digit(head[begin - 1]))
            --begin;
    } else if (border != ' ' && border != '\t' && border != '-') {
        return false;
    }
    event.comm.raw = base::trim(head.substr(0, begin));
    return is_comm(event.comm.raw);
}

}  // namespace

std::optional<KernelEvent> read_kernel_event(std::string_view line) {
    const auto cpu = find_cpu(line);
    if (cpu == std::string_view::npos) return std::nullopt;
    KernelEvent event;
    if (!read_thread(line.substr(0, cpu), event)) return std::nullopt;
    Scan scan{line.substr(cpu + 1)};
    if (!scan.count(event.cpu.number, event.cpu.raw) || !scan.skip("]")) return std::nullopt;
    scan.blanks();
    const auto number = [&] {
        const auto before = scan.rest;
        const bool is_time = scan.fixed_point(event.time.number, 9) && event.time.number >= 0 && scan.skip(":");
        event.time.raw = before.substr(0, before.size() - scan.rest.size());
        if (!is_time) scan.rest = before;
        return is_time;
    };
    if (!number()) {
        // ftrace: the flags of the moment, "d.s2.".
        const auto flags = std::min(scan.rest.find(' '), scan.rest.size());
        scan.rest.remove_prefix(flags);
        scan.blanks();
        if (flags > 8 || !number()) return std::nullopt;
    }
    scan.blanks();
    const auto end = scan.rest.find(": ");
    if (end == std::string_view::npos) return std::nullopt;
    event.name = scan.rest.substr(0, end);
    event.name.remove_prefix(event.name.rfind(':') + 1);
    if (event.name.empty() || event.name.find(' ') != std::string_view::npos) return std::nullopt;
    event.arguments = base::trim(scan.rest.substr(end + 2));
    return event;
}

std::string_view argument(std::string_view arguments, std::string_view name) {
    auto at = arguments.find(name);
    while (at != std::string_view::npos && at != 0 && arguments[at - 1] != ' ')
        at = arguments.find(name, at + 1);
    if (at == std::string_view::npos) return {};
    const auto value = arguments.substr(at + name.size());
    return value.substr(0, value.find(' '));
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    return base::to_unsigned(text, 16);
}

bool is_stack_line(std::string_view line) {
    const auto text = base::trim(line);
    if (text.starts_with("=> ")) return true;
    const auto blank = std::min(text.find(' '), text.size());
    // "4001 drops at icmp_rcv+12d (0xffffffff8176ac9d)" is dropwatch's: no file's name begins so.
    return blank >= 4 && blank <= 16 && text.ends_with(')') && !text.substr(text.rfind('(') + 1).starts_with("0x") &&
           std::ranges::all_of(text.substr(0, blank), is_hexadecimal);
}

std::optional<std::int64_t> lost_events(std::string_view line) {
    std::int64_t number = 0;
    if (const auto at = line.find(" events and lost ");
        line.starts_with("Processed ") && at != std::string_view::npos) {
        Scan scan{line.substr(at + std::string_view(" events and lost ").size())};
        return scan.count(number) && scan.skip(" chunks!") ? std::optional(number) : std::nullopt;
    }
    Scan scan{line};
    if (scan.skip("CPU:") && !scan.count(number)) return std::nullopt;
    scan.blanks();
    if (!scan.skip("[")) return std::nullopt;
    number = 1;
    const bool before = scan.skip("LOST ");
    if (scan.count(number) && !scan.skip(" ")) return std::nullopt;
    return scan.rest == (before ? "EVENTS]" : "EVENTS DROPPED]") ? std::optional(number) : std::nullopt;
}

}  // namespace stapgen::decode
