#include "decode/record.h"

#include <algorithm>

namespace stapgen::decode {

std::optional<std::size_t> Schema::find(std::string_view name) const {
    const auto found = std::ranges::find(fields, name, &Field::name);
    if (found == fields.end()) return std::nullopt;
    return static_cast<std::size_t>(found - fields.begin());
}

std::string_view describe(Flaw flaw) {
    switch (flaw) {
        case Flaw::no_header:
            return "no header before it";
        case Flaw::newer_version:
            return "a newer format version";
        case Flaw::bad_header:
            return "a header that makes no sense";
        case Flaw::second_header:
            return "a second recording";
        case Flaw::unknown_tag:
            return "not a kind of line that the header declares";
        case Flaw::field_count:
            return "wrong number of fields";
        case Flaw::bad_number:
            return "not a number, or out of range";
        case Flaw::bad_text:
            return "control characters in a text";
    }
    return "unreadable";
}

namespace {
bool is_octal(char c) {
    return c >= '0' && c <= '7';
}
}  // namespace

std::string unescape(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    while (!raw.empty()) {
        const auto escape = std::min(raw.find('\\'), raw.size());
        out += raw.substr(0, escape);
        raw.remove_prefix(escape);
        if (raw.empty()) break;
        std::size_t used = 2;
        if (raw.starts_with("\\t")) {
            out += '\t';
        } else if (raw.starts_with("\\n")) {
            out += '\n';
        } else if (raw.starts_with("\\\\")) {
            out += '\\';
        } else if (raw.size() >= 4 && raw[1] <= '3' && std::all_of(&raw[1], &raw[4], is_octal)) {
            out += static_cast<char>((raw[1] - '0') * 64 + (raw[2] - '0') * 8 + (raw[3] - '0'));
            used = 4;
        } else {
            out += '\\';
            used = 1;
        }
        raw.remove_prefix(used);
    }
    return out;
}

}  // namespace stapgen::decode
