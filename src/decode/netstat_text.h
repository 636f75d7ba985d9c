#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "decode/counter_reader.h"

namespace stapgen::decode {

/// What `netstat -s` prints (net-tools 1.60 to 2.10): sentences, of counters that it does not know their names. Whole,
/// or what grep left of it, then without the headings.
///     Udp:
///         225645 packets received
///         InCsumErrors: 319
///     TcpExt:
///         Quick ack mode was activated 641 times
class NetstatText : public CounterReader {
  public:
    [[nodiscard]] std::string_view format() const override { return "netstat -s"; }
    [[nodiscard]] bool leaves_out_zeros() const override { return true; }
    bool line(const CounterText& text, CounterLine& out) override;
    void end_block() override;

  private:
    bool heading(std::string_view line, CounterLine& out);
    [[nodiscard]] std::optional<std::string> name_of(std::string_view sentence) const;

    std::string group_;           ///< of the last heading or sentence; empty: none
    std::set<std::string> seen_;  ///< headings of this sample
    std::string_view direction_;  ///< "In" or "Out": in a histogram of ICMP's; else empty
};

}  // namespace stapgen::decode
