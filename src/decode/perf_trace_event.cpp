#include <algorithm>

#include "base/text.h"
#include "decode/kernel_event.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

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

}  // namespace

std::optional<KernelEvent> read_perf_trace_event(std::string_view line) {
    KernelEvent event;
    Scan scan{base::trim(line)};
    const auto text = scan.rest;
    std::int64_t time = 0;
    constexpr int ns_of_ms = 6;
    if (!scan.fixed_point(time, ns_of_ms) || time < 0 || !scan.rest.starts_with(' ')) return std::nullopt;
    event.time = {text.substr(0, text.size() - scan.rest.size()), time};
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

}  // namespace stapgen::decode
