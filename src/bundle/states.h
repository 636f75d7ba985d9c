// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::bundle {

/// How long a queue is or may be, or a ring, by a name as settings have them: "Recv-Q of 0.0.0.0:80".
struct State {
    std::string name;
    std::uint64_t value = 0;
};

/// Reads what `ss -ltn` and `ethtool -g` print, line by line: connections that wait to be accepted (Recv-Q) and how
/// many may (Send-Q), and receive rings of cards.
///     State  Recv-Q Send-Q Local Address:Port  Peer Address:Port
///     LISTEN 129    128          0.0.0.0:80         0.0.0.0:*
///     Ring parameters for eth0:
///     Pre-set maximums:
///     RX:             4096
///     Current hardware settings:
///     RX:             256
class StateReader {
  public:
    std::vector<State> read(std::string_view line);

  private:
    std::string device_;  ///< whose ring parameters these lines are; empty: nobody's
    bool is_maximum_ = false;
};

}  // namespace stapgen::bundle
