// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace stapgen::serve {

namespace {

struct HostAndPort {
    std::string host;
    std::optional<std::uint16_t> port;
};

/// "HOST:PORT", "[ADDRESS]:PORT", or either without the port.
std::optional<HostAndPort> host_and_port(std::string_view text) {
    const bool in_brackets = text.starts_with('[');
    const auto end = in_brackets ? text.find(']') : text.find(':');
    if (in_brackets && end == std::string_view::npos) return std::nullopt;
    HostAndPort found{std::string(text.substr(in_brackets, end - in_brackets)), std::nullopt};
    text.remove_prefix(std::min(text.size(), in_brackets ? end + 1 : end));
    if (text.empty()) return found;
    const auto port = base::to_unsigned(text.substr(1));
    if (!text.starts_with(':') || !port || *port > 65535) return std::nullopt;
    found.port = static_cast<std::uint16_t>(*port);
    return found;
}

bool is_address(int family, const std::string& text) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    return ::inet_pton(family, text.c_str(), address.data()) == 1;
}

}  // namespace

base::Result<Endpoint> parse_endpoint(std::string_view text) {
    auto found = host_and_port(text);
    if (found && found->host == "localhost") found->host = "127.0.0.1";
    const bool is_v6 = text.starts_with('[');
    if (!found || !found->port || !is_address(is_v6 ? AF_INET6 : AF_INET, found->host)) {
        return base::bad_input(fmt::format("--listen '{}' is not an address and a port", base::printable(text)),
                               "for example --listen 127.0.0.1:9752 or [::1]:9752; 0.0.0.0:9752 is on all addresses");
    }
    return Endpoint{found->host, *found->port};
}

std::string text_of(const Endpoint& endpoint) {
    const bool is_v6 = endpoint.address.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", endpoint.address, is_v6 ? "]" : "", endpoint.port);
}

bool is_own_host(std::string_view header, const Endpoint& listens, std::string_view machine) {
    const auto found = host_and_port(header);
    if (!found) return false;
    if (is_address(AF_INET, found->host) || is_address(AF_INET6, found->host)) return true;
    const auto name = base::upper(found->host), own = base::upper(machine);
    if (name == "LOCALHOST" || (!own.empty() && name == own)) return true;
    const bool is_local = listens.address.starts_with("127.") || listens.address == "::1";
    const auto label = own.substr(0, own.find('.'));
    return !is_local && !label.empty() && name.starts_with(label + '.');
}

base::Result<Url> parse_otlp_url(std::string_view text) {
    constexpr std::string_view scheme = "http://";
    const auto wrong = [&] {
        return base::bad_input(
            fmt::format("--otlp '{}' is not http://HOST[:PORT][/PATH]", base::printable(text)),
            "for example --otlp http://127.0.0.1:4318; https takes a collector or a proxy on this machine");
    };
    // Neither of the request's line nor of its headers may anything else be in it.
    const auto is_wrong = [](char c) { return c <= ' ' || c > '~' || c == '#' || c == '@' || c == '\\'; };
    if (!text.starts_with(scheme) || std::ranges::any_of(text, is_wrong)) return wrong();
    const auto rest = text.substr(scheme.size());
    const auto path = rest.substr(std::min(rest.size(), rest.find('/')));
    const auto found = host_and_port(rest.substr(0, rest.size() - path.size()));
    if (!found || found->host.empty()) return wrong();
    return Url{found->host, found->port.value_or(80), path.size() > 1 ? std::string(path) : "/v1/metrics"};
}

}  // namespace stapgen::serve
