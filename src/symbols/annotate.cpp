// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "symbols/files/address_words.h"

namespace stapgen::symbols {

namespace {

/// More bytes than any address has.
constexpr std::size_t long_word = 19;

/// A word of up to eight bytes as a number.
constexpr std::uint64_t packed(std::string_view word) {
    std::uint64_t number = 0;
    for (const char c : word)
        number = number << 8U | static_cast<unsigned char>(c);
    return number;
}

/// Short words, to be looked for by each word of a text.
template <std::size_t size>
class ShortWords {
  public:
    constexpr explicit ShortWords(const std::array<std::string_view, size>& words) {
        std::ranges::transform(words, words_.begin(), packed);
        std::ranges::sort(words_);
    }
    [[nodiscard]] bool contains(std::string_view word) const {
        return word.size() <= sizeof(std::uint64_t) && std::ranges::binary_search(words_, packed(word));
    }

  private:
    std::array<std::uint64_t, size> words_{};
};

// As the kernel's oops texts of x86, arm, arm64, powerpc and riscv have them, and crash. What a register holds may be
// where a function begins; taken for a return address it would get the name of the function before. Link registers are
// not among them.
constexpr ShortWords registers(std::array<std::string_view, 27>{
    "RIP", "EIP", "IP",  "NIP", "PC",  "pc",  "epc", "CTR", "rip", "ip",  "RAX", "RBX", "RCX",     "RDX",
    "RSI", "RDI", "RBP", "RSP", "EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "EBP", "ESP", "ORIG_RAX"});

/// r0, R8, R08, x29, and riscv's t0, s1, a0.
bool is_numbered_register(std::string_view word) {
    constexpr std::string_view letters = "rRxtsa";
    return (word.size() == 2 || word.size() == 3) && letters.find(word[0]) != std::string_view::npos &&
           std::all_of(word.begin() + 1, word.end(), base::is_digit);
}

bool is_number(std::string_view word) {
    return word.size() < long_word && (base::is_digit(word[0]) || std::ranges::all_of(word, hex::is_digit));
}

constexpr ShortWords drop_words(std::array<std::string_view, 4>{"dropped", "drops", "drop", "location"});

/// Calls `found` with each address word, and what it is. `words`: those before the text in its first line; then those
/// of its last one.
template <class Found>
void for_each_with_kind(std::string_view text, std::size_t digits, LineWords& words, const Found& found) {
    std::size_t read = 0;
    for_each_address(text, digits, [&](const AddressWord& word) {
        words.read(text.substr(read, word.begin - read));
        read = word.begin;
        found(word, words.kind());
    });
    words.read(text.substr(read));
}

}  // namespace

base::Result<std::uint64_t> parse_address(std::string_view word) {
    auto digits = base::trim(word);
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    if (std::uint64_t high = 0, low = 0;
        digits.size() == 16 && hex::read_eight(digits.data(), high) && hex::read_eight(digits.data() + 8, low)) {
        return high << 32U | low;
    }
    const auto address = base::to_unsigned(digits, 16);
    if (!address) {
        return base::bad_input(fmt::format("\"{}\" is not an address", base::printable(base::trim(word))),
                               "an address is 1 to 16 hex digits, with or without 0x: ffffffff8149a8ed");
    }
    return *address;
}

void LineWords::read(std::string_view text) {
    if (const auto line_end = text.rfind('\n'); line_end != std::string_view::npos) {
        *this = {};
        text.remove_prefix(line_end + 1);
    }
    for (std::size_t at = 0; at < text.size();) {
        if (!base::is_word_character(text[at])) {
            ++at;
            continue;
        }
        const auto begin = at;
        while (at < text.size() && base::is_word_character(text[at]))
            ++at;
        take(text.substr(begin, at - begin));
    }
}

void LineWords::take(std::string_view word) {
    if (is_number(word) || word == "is" || word == "at") return;  // PC is at
    if (registers.contains(word) || is_numbered_register(word)) {
        instruction_ = true;
        return;
    }
    instruction_ = false;
    if (word == "consume_skb") no_loss_ = true;
    if (drop_words.contains(word) || word == "kfree_skb") drop_ = true;
}

AddressKind LineWords::kind() const {
    if (instruction_) return AddressKind::exact;
    return drop_ && !no_loss_ ? AddressKind::drop_site : AddressKind::return_address;
}

void Annotator::annotate(std::string_view text, std::string& out) {
    constexpr std::size_t at_once = 64;
    std::size_t copied = 0;
    const auto found = [&](const AddressWord& word, AddressKind kind) {
        found_.push_back({word.begin, word.end, kind});
        addresses_.push_back(word.address);
        if (found_.size() == at_once) put_names(text, copied, out);
    };
    for_each_with_kind(text, digits_, words_, found);
    put_names(text, copied, out);
    out.append(text, copied);
}

void Annotator::put_names(std::string_view text, std::size_t& copied, std::string& out) {
    if (look_ahead_) look_ahead_(addresses_);
    for (std::size_t i = 0; i < found_.size(); ++i) {
        const auto& [begin, end, kind] = found_[i];
        out.append(text, copied, begin - copied);
        copied = append_name_(addresses_[i], kind, out) ? end : begin;
    }
    found_.clear();
    addresses_.clear();
}

void collect_addresses(std::string_view text, const std::function<void(std::uint64_t, AddressKind)>& found,
                       int digits) {
    LineWords words;
    for_each_with_kind(text, static_cast<std::size_t>(digits), words,
                       [&](const AddressWord& word, AddressKind kind) { found(word.address, kind); });
}

}  // namespace stapgen::symbols
