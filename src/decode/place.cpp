// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/kernel.h"
#include "base/text.h"

namespace stapgen::decode {

namespace {

/// Since Linux 4.15 %p gives 32 bits of a hash, behind as many zeros.
bool is_hashed(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    return text.size() == 16 && text.starts_with("00000000");
}

/// The text between `open` and `close` at the front of the rest, which is taken off; nothing if that is not there.
std::optional<std::string_view> take_enclosed(std::string_view& rest, char open, char close) {
    rest = base::trim(rest);
    if (!rest.starts_with(open)) return std::nullopt;
    const auto end = rest.find(close);
    if (end == std::string_view::npos) return std::nullopt;
    const auto inner = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return inner;
}

constexpr std::string_view dropping =
    "kfree_skb kfree_skb_reason sk_skb_reason_drop __sk_skb_reason_drop kfree_skb_list kfree_skb_list_reason tcp_drop "
    "tcp_drop_reason";

/// The beginnings of the functions between a function that is traced and the program of BPF.
constexpr std::string_view tracing[]{"__traceiter_",  "perf_trace_",     "trace_event_raw_event_",
                                     "__bpf_trace_",  "bpf_trace_run",   "bpf_prog_",
                                     "bpf_get_stack", "bpf_trampoline_", "trace_call_bpf"};

struct Call {
    std::string_view name;
    std::string_view module;
    std::optional<std::uint64_t> offset;
};

/// "tcp_v4_rcv+0x9b8 [module]", the offset in hexadecimal or decimal; both may be missing.
std::optional<Call> read_call(std::string_view text) {
    const auto length = base::symbol_length(text);
    if (length > base::max_symbol_length || std::ranges::none_of(text.substr(0, length), base::is_word_character))
        return std::nullopt;
    Call call{text.substr(0, length), {}, {}};
    text.remove_prefix(length);
    if (text.starts_with('+')) {
        const auto digits = text.substr(1, text.find_first_of(" [") - 1);
        call.offset = digits.starts_with("0x") ? base::from_hex(digits) : base::to_unsigned(digits);
        if (!call.offset) return std::nullopt;
        text.remove_prefix(1 + digits.size());
    }
    text = base::trim(text);
    if (text.empty()) return call;
    if (text.size() < 3 || text.front() != '[' || text.back() != ']') return std::nullopt;
    call.module = text.substr(1, text.size() - 2);
    return base::is_module_name(call.module) ? std::optional(call) : std::nullopt;
}

}  // namespace

PrintedPlace parse_place(std::string_view text) {
    PrintedPlace place;
    text = base::trim(text.substr(0, text.find(" #")));
    const auto word = text.substr(0, text.find(' '));
    // A name may be made of the letters of hexadecimal digits; an address of the kernel has eight digits at least.
    if (word.starts_with("0x") || word.size() >= 8) {
        if (const auto address = base::from_hex(word)) {
            place.address = address;
            place.hashed = is_hashed(word);
            return place;
        }
    }
    auto rest = text.substr(word.size());
    const auto plus = word.rfind('+');
    if (plus != std::string_view::npos) {
        const auto digits = word.substr(plus + 1);
        place.offset = base::from_hex(digits.substr(0, digits.find('/')));
    }
    const auto bracketed = take_enclosed(rest, '[', ']');
    if (bracketed && base::is_module_name(*bracketed)) place.module = *bracketed;
    if (const auto enclosed = take_enclosed(rest, '(', ')')) place.address = base::from_hex(*enclosed);
    // A name of several words is a trap's of some hardware.
    const bool known = place.offset || place.module || place.address;
    const auto name = place.offset ? word.substr(0, plus) : known ? word : text;
    if (place.address && !base::can_be_code(name, place.offset.value_or(0))) {
        place.offset.reset();
        place.module.reset();
        place.refused = true;
        return place;
    }
    place.symbol = name;
    return place;
}

bool is_address(std::string_view text) {
    constexpr std::size_t min_digits = 8;
    return text.starts_with("0x") && text.size() >= 2 + min_digits && base::from_hex(text);
}

bool drops_packets(std::string_view function) {
    // GCC makes copies: "kfree_skb_reason.part.0".
    return base::contains_word(dropping, function.substr(0, function.find('.')));
}

bool DropStack::add(std::string_view line) {
    auto text = base::trim(line);
    if (text.size() > 3 && text.starts_with("b'") && text.ends_with('\'')) text = text.substr(2, text.size() - 3);
    const bool is_nameless = text == "[unknown]" || is_address(text);
    const auto call = is_nameless ? std::nullopt : read_call(text);
    if (!is_nameless && !call) return false;
    has_calls_ = true;
    if (!place_.empty()) return true;
    // A tool prints offsets in all of them or in none: a name without one is what the copy has left of a line.
    if (call && !call->offset && has_offsets_) is_cut_ = true;
    has_offsets_ = has_offsets_ || (call && call->offset);
    if (call && drops_packets(call->name)) {
        is_cut_ = is_cut_ && drops_;
        drops_ = true;
    } else if (is_cut_) {
        return true;
    } else if (is_nameless) {
        place_ = text;
    } else if (drops_ || !base::starts_with_any(call->name, tracing)) {
        place_ = call->name;
        if (call->offset) place_ += fmt::format("+0x{:x}", *call->offset);
        if (!call->module.empty()) place_ += fmt::format(" [{}]", call->module);
    }
    return true;
}

}  // namespace stapgen::decode
