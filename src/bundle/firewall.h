// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stapgen::bundle {

/// A rule, or the policy of a chain, that drops or rejects, and what it has counted.
struct FirewallRule {
    std::string name;   ///< as a counter: "firewall.drop", "firewall.reject"
    std::string of;     ///< "inet filter input: tcp dport 7001"
    std::string table;  ///< "inet filter"
    std::uint64_t packets = 0;
};

/// Reads what `nft list ruleset`, `iptables -vnL` and `ip6tables -vnL` print, line by line.
///     table inet filter {
///         chain input {
///             tcp dport 7001 counter packets 17 bytes 1020 drop # handle 3
///     Chain INPUT (policy DROP 17 packets, 1020 bytes)
///         pkts      bytes target     prot opt in     out     source               destination
///           17      1020 REJECT     tcp  --  *      *       0.0.0.0/0            0.0.0.0/0            tcp dpt:7001
/// A rule of nft without a counter says nothing. iptables without -x rounds what is large: "17K" is 17,000 here. Its
/// table is that of the command, by the name that nft has for it: "ip mangle" of "iptables -t mangle -vnL".
class FirewallReader {
  public:
    explicit FirewallReader(std::string_view command);
    std::optional<FirewallRule> read(std::string_view line);

  private:
    std::string table_, chain_;
};

}  // namespace stapgen::bundle
