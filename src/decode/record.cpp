// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/record.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/address.h"
#include "base/text.h"

namespace stapgen::decode {

std::string_view describe(Flaw flaw) {
    constexpr std::array<std::string_view, 12> texts{"no header before it",
                                                     "a newer format version",
                                                     "an invalid header",
                                                     "a second recording",
                                                     "a tag that the header does not declare",
                                                     "wrong number of fields",
                                                     "not a number, or out of range",
                                                     "control characters in a text",
                                                     "not a known kind of line",
                                                     "more fields, stages or kinds of records than are read",
                                                     "a record that is broken off",
                                                     "no line end: it may be truncated"};
    return texts.at(static_cast<std::size_t>(flaw));
}

namespace {
/// The byte that a backslash and one letter stand for in what text_str() writes.
std::optional<char> single_escape(std::string_view raw) {
    constexpr std::string_view letters = "abfnrtv\\\"", bytes = "\a\b\f\n\r\t\v\\\"";
    const auto found = raw.size() < 2 ? std::string_view::npos : letters.find(raw[1]);
    if (found == std::string_view::npos) return std::nullopt;
    return bytes[found];
}

/// \uXXXX and \UXXXXXXXX, which text_str() writes for what is not ASCII, as UTF-8; empty if it is none.
std::string unicode_escape(std::string_view raw, std::size_t& used) {
    if (raw.size() < 2 || (raw[1] != 'u' && raw[1] != 'U')) return {};
    const std::size_t digits = raw[1] == 'u' ? 4 : 8;
    if (raw.size() < 2 + digits) return {};
    const auto code = base::to_unsigned(raw.substr(2, digits), 16);
    if (!code || *code < 0x80 || *code > 0x10ffff) return {};
    used = 2 + digits;
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((*code >> shift) & 0x3f)); };
    if (*code < 0x800) return {static_cast<char>(0xc0 | (*code >> 6)), tail(0)};
    if (*code < 0x10000) return {static_cast<char>(0xe0 | (*code >> 12)), tail(6), tail(0)};
    return {static_cast<char>(0xf0 | (*code >> 18)), tail(12), tail(6), tail(0)};
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
        if (const auto plain = single_escape(raw)) {
            out += *plain;
        } else if (const auto text = unicode_escape(raw, used); !text.empty()) {
            out += text;
        } else if (raw.size() >= 4 && raw[1] <= '3' && raw.substr(1, 3).find_first_not_of("01234567") == raw.npos) {
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

std::vector<std::uint64_t> stack_addresses(std::string_view raw) {
    std::vector<std::uint64_t> addresses;
    for (const auto address : base::split(raw, ','))
        addresses.push_back(base::to_unsigned(address, 16).value_or(0));
    return addresses;
}

std::optional<Endpoint> endpoint_of(std::string_view raw) {
    const auto dot = std::min(raw.find('.'), raw.size()), colon = std::min(raw.find(':'), raw.size());
    const auto part = [&](std::size_t from, std::size_t to) {
        return raw.substr(std::min(from, to), to - std::min(from, to));
    };
    const auto high = base::to_unsigned(part(0, dot), 16), low = base::to_unsigned(part(dot + 1, colon), 16);
    if (!high || !low) return std::nullopt;
    Endpoint endpoint{{}, raw.substr(std::min(colon + 1, raw.size()))};
    for (std::size_t i = 0; i < 8; ++i) {
        endpoint.address[i] = static_cast<unsigned char>(*high >> (56 - 8 * i));
        endpoint.address[8 + i] = static_cast<unsigned char>(*low >> (56 - 8 * i));
    }
    return endpoint;
}

std::string endpoint_text(std::string_view raw) {
    const auto endpoint = endpoint_of(raw);
    if (!endpoint) return std::string(raw);
    const auto& [address, port] = *endpoint;
    const bool is_ipv4 = base::is_mapped_ipv4(address);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_ipv4) {
        ::inet_ntop(AF_INET, &address[12], text.data(), text.size());
    } else {
        ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
    }
    if (port.empty()) return text.data();
    return is_ipv4 ? fmt::format("{}:{}", text.data(), port) : fmt::format("[{}]:{}", text.data(), port);
}

}  // namespace stapgen::decode
