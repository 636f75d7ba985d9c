#include "decode/place.h"

#include "base/kernel_code.h"
#include "base/text.h"

namespace stapgen::decode {

namespace {

/// Since Linux 4.15 %p gives 32 bits of a hash, behind as many zeros.
bool is_hashed(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    return text.size() == 16 && text.starts_with("00000000");
}

/// What stands between `open` and `close` at the front of the rest, which is taken off; nothing if that is not there.
std::optional<std::string_view> take_enclosed(std::string_view& rest, char open, char close) {
    rest = base::trim(rest);
    if (!rest.starts_with(open)) return std::nullopt;
    const auto end = rest.find(close);
    if (end == std::string_view::npos) return std::nullopt;
    const auto inner = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return inner;
}

}  // namespace

Place parse_place(std::string_view text) {
    Place place;
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

}  // namespace stapgen::decode
