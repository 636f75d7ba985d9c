// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/address.h"
#include "base/text.h"
#include "filter/filter.h"

namespace stapgen::filter {

namespace {

using Bytes = std::array<unsigned char, 16>;

constexpr std::uint64_t mapped_bits = 8 * base::mapped_ipv4.size();

std::uint64_t bits_of(const Network& network) {
    return network.is_ipv4 ? 32 : 128;
}

std::string address_text(const Network& network) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(network.is_ipv4 ? AF_INET : AF_INET6, network.address.data(), text.data(), text.size());
    return text.data();
}

/// Without the bits beyond the prefix.
Bytes masked(Bytes address, std::uint64_t prefix) {
    for (auto bit = prefix; bit < 8 * address.size(); ++bit)
        address[bit / 8] &= static_cast<unsigned char>(~(0x80 >> bit % 8));
    return address;
}

base::Result<Network> parse_address(const std::string& text) {
    Network network;
    if (::inet_pton(AF_INET, text.c_str(), network.address.data()) == 1) return network;
    network.is_ipv4 = false;
    if (::inet_pton(AF_INET6, text.c_str(), network.address.data()) == 1) return network;
    return base::bad_input(fmt::format("'{}' is not an address", base::printable(text)),
                           "write an address, no host name: 10.0.0.1, 10.0.0.0/8, ::1 or fe80::/10");
}

void unmap(Network& network) {
    if (network.is_ipv4 || network.prefix < mapped_bits || !base::is_mapped_ipv4(network.address)) return;
    network.is_ipv4 = true;
    network.prefix -= mapped_bits;
    std::copy(network.address.begin() + base::mapped_ipv4.size(), network.address.end(), network.address.begin());
    std::fill(network.address.begin() + 4, network.address.end(), 0);
}

}  // namespace

std::string Network::text() const {
    return fmt::format("{}/{}", address_text(*this), prefix);
}

bool Network::contains(const Bytes& other) const {
    Bytes bytes = other;
    if (is_ipv4) {
        if (!base::is_mapped_ipv4(other)) return false;
        bytes = {};
        std::copy(other.begin() + base::mapped_ipv4.size(), other.end(), bytes.begin());
    }
    return masked(bytes, prefix) == address;
}

base::Result<Network> parse_network(std::string_view text) {
    const auto slash = std::min(text.find('/'), text.size());
    auto network = parse_address(std::string(text.substr(0, slash)));
    if (!network) return network;
    network->prefix = bits_of(*network);
    if (slash < text.size()) {
        const auto typed = base::to_unsigned(text.substr(slash + 1));
        if (!typed || *typed > network->prefix) {
            return base::bad_input(
                fmt::format("'{}' is not a prefix length", base::printable(text.substr(slash + 1))),
                fmt::format("of {} it is 0 to {}", network->is_ipv4 ? "an IPv4 address" : "an IPv6 address",
                            network->prefix));
        }
        network->prefix = *typed;
    }
    unmap(*network);
    auto alone = *network;
    alone.address = masked(network->address, network->prefix);
    if (alone.address != network->address) {
        return base::bad_input(fmt::format("'{}' has bits set beyond its prefix", text),
                               fmt::format("the network is {}; for one address omit the prefix", alone.text()));
    }
    return network;
}

}  // namespace stapgen::filter
