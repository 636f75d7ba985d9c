#include "symbols/drop_reasons.h"

#include <fmt/format.h>

#include <limits>

#include "base/text.h"

namespace stapgen::symbols {

namespace {

bool closes_at_end(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0) return i + 1 == text.size();
    }
    return false;
}

std::string_view without_parentheses(std::string_view text) {
    text = base::trim(text);
    while (text.starts_with('(') && closes_at_end(text)) {
        text = base::trim(text.substr(1, text.size() - 2));
    }
    return text;
}

std::optional<std::uint64_t> constant(std::string_view text) {
    constexpr std::size_t longest = 64;
    if (text.size() > longest) return std::nullopt;
    text = without_parentheses(text);
    if (const auto shift = text.find("<<"); shift != std::string_view::npos) {
        const auto value = constant(text.substr(0, shift));
        const auto bits = constant(text.substr(shift + 2));
        if (!value || !bits || *bits >= 32) return std::nullopt;
        return *value << *bits;
    }
    while (!text.empty() && (text.back() == 'U' || text.back() == 'L' || text.back() == 'u')) {
        text.remove_suffix(1);
    }
    if (text.starts_with("0x")) return base::to_unsigned(text.substr(2), 16);
    return base::to_unsigned(text);
}

/// The entries of the first __print_symbolic(REC->reason, ...): everything behind that comma.
std::string_view reason_list(std::string_view format) {
    constexpr std::string_view call = "__print_symbolic(";
    for (;;) {
        const auto begin = format.find(call);
        if (begin == std::string_view::npos) return {};
        format.remove_prefix(begin + call.size());
        const auto comma = format.find(',');
        if (comma == std::string_view::npos) return {};
        if (format.substr(0, comma).find("reason") != std::string_view::npos) {
            return format.substr(comma + 1);
        }
    }
}

/// Takes `{ value, "NAME" }` and the comma behind it off the front of `list`; none at its end.
std::optional<std::pair<std::string_view, std::string_view>> take_entry(std::string_view& list) {
    list = base::trim(list);
    if (!list.starts_with('{')) return std::nullopt;
    const auto open = list.find('"');
    if (open == std::string_view::npos) return std::nullopt;
    const auto close = list.find('"', open + 1);
    const auto end = list.find('}', close == std::string_view::npos ? list.size() : close);
    if (end == std::string_view::npos) return std::nullopt;
    auto value = base::trim(list.substr(1, open - 1));
    if (value.ends_with(',')) value.remove_suffix(1);
    const auto name = list.substr(open + 1, close - open - 1);
    list = base::trim(list.substr(end + 1));
    if (list.starts_with(',')) list.remove_prefix(1);
    return std::pair(value, name);
}

}  // namespace

base::Result<DropReasons> DropReasons::parse(std::string_view format) {
    DropReasons reasons;
    auto list = reason_list(format);
    while (const auto entry = take_entry(list)) {
        const auto value = constant(entry->first);
        if (value && *value <= std::numeric_limits<std::uint32_t>::max()) {
            reasons.names_.emplace(static_cast<std::uint32_t>(*value), entry->second);
        } else {
            ++reasons.skipped_;
        }
    }
    if (reasons.names_.empty()) {
        return base::bad_input("the format of the tracepoint skb:kfree_skb lists no drop reasons",
                               "kernels before 5.17 give none, and a few after it give no numbers: their "
                               "drops are told apart by place only");
    }
    return reasons;
}

std::optional<std::string_view> DropReasons::name(std::uint32_t reason) const {
    const auto known = names_.find(reason);
    if (known == names_.end()) return std::nullopt;
    return known->second;
}

std::string DropReasons::describe(std::uint32_t reason) const {
    if (const auto known = name(reason)) return std::string(*known);
    const auto subsystem = reason >> 16;
    if (subsystem == 0) return fmt::format("reason {}", reason);
    return fmt::format("subsystem {} reason {}", subsystem, reason & 0xffff);
}

}  // namespace stapgen::symbols
