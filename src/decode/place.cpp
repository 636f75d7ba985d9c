#include "decode/place.h"

#include "base/text.h"

namespace stapgen::decode {

namespace {

std::optional<std::uint64_t> read_hex(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    return base::to_unsigned(text, 16);
}

}  // namespace

Place parse_place(std::string_view text) {
    Place place;
    text = base::trim(text);
    if (const auto parenthesis = text.rfind(" ("); parenthesis != std::string_view::npos && text.ends_with(')')) {
        place.address = read_hex(text.substr(parenthesis + 2, text.size() - parenthesis - 3));
        text = text.substr(0, parenthesis);
    }
    if (const auto bracket = text.rfind(" ["); bracket != std::string_view::npos && text.ends_with(']')) {
        place.module = text.substr(bracket + 2, text.size() - bracket - 3);
        text = text.substr(0, bracket);
    }
    text = base::trim(text);
    // A name may be made of the letters of hexadecimal digits; an address of the kernel has eight digits at least.
    if (text.starts_with("0x") || text.size() >= 8) {
        if (const auto address = read_hex(text)) {
            place.address = address;
            return place;
        }
    }
    const auto plus = text.rfind('+');
    if (plus != std::string_view::npos) {
        const auto rest = text.substr(plus + 1);
        if (const auto offset = read_hex(rest.substr(0, rest.find('/')))) {
            place.offset = offset;
            text = text.substr(0, plus);
        }
    }
    place.symbol = text;
    return place;
}

}  // namespace stapgen::decode
