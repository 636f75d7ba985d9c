#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace stapgen::decode {

/// Walks over the tab-separated fields of a line that is no record; every read_* leaves `at` at a tab or at `end`.
struct Cursor {
    const char* at;
    const char* end;

    explicit Cursor(std::string_view text) : at(text.data()), end(text.data() + text.size()) {}

    [[nodiscard]] bool at_border() const { return at == end || *at == '\t'; }

    template <class Number>
    bool read_number(Number& number) {
        const auto [stop, error] = std::from_chars(at, end, number);
        at = stop;
        return error == std::errc{} && at_border();
    }

    /// Stops at the first control character, which is the tab behind the field if the text is sound.
    bool read_text() {
        while (at != end && static_cast<unsigned char>(*at) >= 0x20)
            ++at;
        return at_border();
    }

    /// Steps over a tab, if one is here.
    bool skip_tab() {
        if (at == end || *at != '\t') return false;
        ++at;
        return true;
    }
};

}  // namespace stapgen::decode
