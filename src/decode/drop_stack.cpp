#include "decode/drop_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "decode/line_importer.h"

namespace stapgen::decode {

namespace {

// A symbol of the kernel has 511 characters at most.
constexpr std::size_t max_name_length = 511;

constexpr std::array dropping{std::string_view("kfree_skb"),          std::string_view("kfree_skb_reason"),
                              std::string_view("sk_skb_reason_drop"), std::string_view("__sk_skb_reason_drop"),
                              std::string_view("kfree_skb_list"),     std::string_view("kfree_skb_list_reason"),
                              std::string_view("tcp_drop"),           std::string_view("tcp_drop_reason")};

/// The beginnings of the functions between a function that is traced and the program of BPF.
constexpr std::array tracing{
    std::string_view("__traceiter_"),  std::string_view("perf_trace_"),     std::string_view("trace_event_raw_event_"),
    std::string_view("__bpf_trace_"),  std::string_view("bpf_trace_run"),   std::string_view("bpf_prog_"),
    std::string_view("bpf_get_stack"), std::string_view("bpf_trampoline_"), std::string_view("trace_call_bpf")};

struct Call {
    std::string_view name;
    std::string_view module;
    std::optional<std::uint64_t> offset;
};

bool is_name_character(char c) {
    return base::is_word_character(c) || c == '.' || c == '$';
}

/// "tcp_v4_rcv+0x9b8 [module]", the offset in hexadecimal or decimal; both may be missing.
std::optional<Call> read_call(std::string_view text) {
    const auto length = static_cast<std::size_t>(std::ranges::find_if_not(text, is_name_character) - text.begin());
    if (length == 0 || length > max_name_length || base::is_digit(text[0])) return std::nullopt;
    Call call{text.substr(0, length), {}, {}};
    text.remove_prefix(length);
    if (text.starts_with('+')) {
        const auto digits = text.substr(1, text.find_first_of(" [") - 1);
        call.offset = digits.starts_with("0x") ? base::to_unsigned(digits.substr(2), 16) : base::to_unsigned(digits);
        if (!call.offset) return std::nullopt;
        text.remove_prefix(1 + digits.size());
    }
    text = base::trim(text);
    if (text.empty()) return call;
    if (text.size() < 3 || text.front() != '[' || text.back() != ']') return std::nullopt;
    call.module = text.substr(1, text.size() - 2);
    constexpr std::size_t max_module_length = 64;
    const auto is_module = [](char c) { return base::is_word_character(c) || c == '-'; };
    return call.module.size() <= max_module_length && std::ranges::all_of(call.module, is_module) ? std::optional(call)
                                                                                                  : std::nullopt;
}

bool is_address(std::string_view text) {
    constexpr std::size_t min_digits = 8;
    return text.starts_with("0x") && text.size() >= 2 + min_digits && base::to_unsigned(text.substr(2), 16);
}

}  // namespace

bool drops_packets(std::string_view function) {
    // GCC makes copies: "kfree_skb_reason.part.0".
    return std::ranges::find(dropping, function.substr(0, function.find('.'))) != dropping.end();
}

Header make_drops_header(std::string_view recipe) {
    return make_header(
        recipe, {{"drop",
                  0,
                  {{"location", FieldType::place}, {"reason", FieldType::reason_name}, {"count", FieldType::count}}}});
}

void DropStack::clear() {
    place_.clear();
    drops_ = false;
}

bool DropStack::add(std::string_view line) {
    auto text = base::trim(line);
    if (text.size() > 3 && text.starts_with("b'") && text.ends_with('\'')) text = text.substr(2, text.size() - 3);
    const bool is_nameless = text == "[unknown]" || is_address(text);
    const auto call = is_nameless ? std::nullopt : read_call(text);
    if (!is_nameless && !call) return false;
    if (!place_.empty()) return true;
    if (is_nameless) {
        place_ = text;
    } else if (drops_packets(call->name)) {
        drops_ = true;
    } else if (drops_ || !base::starts_with_any(call->name, tracing)) {
        place_ = call->name;
        if (call->offset) place_ += fmt::format("+0x{:x}", *call->offset);
        if (!call->module.empty()) place_ += fmt::format(" [{}]", call->module);
    }
    return true;
}

}  // namespace stapgen::decode
