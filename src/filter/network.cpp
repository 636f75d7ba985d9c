#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "filter/filter.h"

namespace stapgen::filter {

namespace {

struct Address {
    int family = AF_INET;
    std::array<unsigned char, 16> bytes{};

    [[nodiscard]] std::uint64_t bits() const { return family == AF_INET ? 32 : 128; }
    [[nodiscard]] std::string text() const {
        std::array<char, INET6_ADDRSTRLEN> text{};
        ::inet_ntop(family, bytes.data(), text.data(), text.size());
        return text.data();
    }
};

base::Result<Address> parse_address(const std::string& text) {
    Address address;
    if (::inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) return address;
    address.family = AF_INET6;
    if (::inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
    return base::bad_input(fmt::format("'{}' is not an address", base::printable(text)),
                           "write an address, no host name: 10.0.0.1, 10.0.0.0/8, ::1 or fe80::/10");
}

/// ::ffff:a.b.c.d is how IPv6 sockets have a.b.c.d; in packets there is none.
void unmap(Address& address, std::uint64_t& prefix) {
    constexpr std::array<unsigned char, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    constexpr std::uint64_t before = 96;
    if (address.family == AF_INET || prefix < before ||
        !std::equal(mapped.begin(), mapped.end(), address.bytes.begin()))
        return;
    address.family = AF_INET;
    std::copy_n(address.bytes.begin() + mapped.size(), 4, address.bytes.begin());
    prefix -= before;
}

}  // namespace

base::Result<std::string> network_of(std::string_view text) {
    const auto slash = std::min(text.find('/'), text.size());
    auto address = parse_address(std::string(text.substr(0, slash)));
    if (!address) return tl::make_unexpected(address.error());
    auto prefix = address->bits();
    if (slash < text.size()) {
        const auto typed = base::to_unsigned(text.substr(slash + 1));
        if (!typed || *typed > prefix) {
            return base::bad_input(
                fmt::format("'{}' is not a prefix length", base::printable(text.substr(slash + 1))),
                fmt::format("of {} it is 0 to {}", address->family == AF_INET ? "an IPv4 address" : "an IPv6 address",
                            prefix));
        }
        prefix = *typed;
    }
    unmap(*address, prefix);
    auto network = *address;
    for (auto bit = prefix; bit < network.bits(); ++bit)
        network.bytes[bit / 8] &= static_cast<unsigned char>(~(0x80 >> bit % 8));
    if (network.bytes != address->bytes) {
        return base::bad_input(
            fmt::format("'{}' has bits set beyond its prefix", text),
            fmt::format("the network is {}/{}; for one address omit the prefix", network.text(), prefix));
    }
    return fmt::format("{}/{}", network.text(), prefix);
}

}  // namespace stapgen::filter
