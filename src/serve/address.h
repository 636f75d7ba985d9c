// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stapgen::serve {

/// Where to listen.
struct Endpoint {
    std::string address;  ///< of IPv4 or IPv6, without brackets
    std::uint16_t port = 0;
};

/// "127.0.0.1:9752", "[::1]:9752", "localhost:9752"; no other name, and none that stands for all addresses. Port 0:
/// any.
base::Result<Endpoint> parse_endpoint(std::string_view text);
/// The same as text.
std::string text_of(const Endpoint& endpoint);

/// Whether a request with this Host header is meant for this machine: an address, localhost, or the machine's own name.
/// A server on another address than the loopback's takes names in any domain, too. Any other name may be one that a
/// web page has made point here (DNS rebinding).
bool is_own_host(std::string_view header, const Endpoint& listens, std::string_view machine);

/// Where to push.
struct Url {
    std::string host;  ///< a name, or an address without brackets
    std::uint16_t port = 80;
    std::string path{};  ///< with its '/' and what follows
};

/// "http://HOST[:PORT][/PATH]". Without a path it is that of OTLP.
base::Result<Url> parse_otlp_url(std::string_view text);

}  // namespace stapgen::serve
