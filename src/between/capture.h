// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "between/ends.h"

/// One end of requests by a capture of packets, as tcpdump writes it at a host or at a span port: times at the device,
/// and sequence numbers. What the host does inside is not in it.
namespace stapgen::between {

/// Whether a file begins as pcap or pcapng does.
bool is_capture(const std::filesystem::path& file);

/// Requests over TCP. `port`: the server's; 0: the lower one of each connection. A request begins with data to the
/// server behind data from it, or with a connection's first; the acknowledgment in it is its reply's first sequence
/// number. Errors (bad_input): it is none, its link type is unknown, or it breaks off before the first packet.
base::Result<Host> read_capture(const std::filesystem::path& file, std::uint16_t port);

}  // namespace stapgen::between
