#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/counter_reader.h"

namespace stapgen::decode {

/// What `ip -s link`, `ip -s -s link` and `ip -s addr` print; names of columns have changed with iproute2's versions:
///     2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000
///         link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff
///         RX: bytes  packets  errors  dropped overrun mcast        from 5.13 on "missed" in the place of "overrun"
///         1234       12       0       0       0       0
///         RX errors: length   crc     frame   fifo    missed       and here the other way round
///                    0        0       0       0       0
///         TX: bytes  packets  errors  dropped carrier collsns
/// Those of a virtual function ("vf 0 ...") are of "eth0.vf0".
class IpLinkText : public CounterReader {
  public:
    [[nodiscard]] std::string_view format() const override { return "ip -s link"; }
    bool line(const CounterText& text, CounterLine& out) override;
    void end_block() override;

  private:
    bool device_line(std::string_view line);
    bool headings(std::string_view line);
    bool values(const std::vector<std::string_view>& words, CounterLine& out);

    std::string device_, function_;
    std::vector<std::string> names_;  ///< of the numbers in the next line
};

/// What ifconfig prints, of net-tools 1.60 ("RX packets:12 errors:0") and busybox, and of 2.x ("RX packets 12  bytes
/// 1234"). It reads /proc/net/dev, and so its names are those of ProcNetDev.
class IfconfigText : public CounterReader {
  public:
    [[nodiscard]] std::string_view format() const override { return "ifconfig"; }
    bool line(const CounterText& text, CounterLine& out) override;
    void end_block() override { device_.clear(); }

  private:
    std::string device_;
};

/// What `ethtool -S DEV` prints: names of the driver's own, blanks and brackets in them. Only the command before it
/// names the device. What grep left of it is read where the command stands there.
///     NIC statistics:
///          rx_queue_0_drops: 17
///          [0]: rx_discards: 0
class EthtoolText : public CounterReader {
  public:
    [[nodiscard]] std::string_view format() const override { return "ethtool -S"; }
    [[nodiscard]] bool has_parts() const override { return true; }
    bool line(const CounterText& text, CounterLine& out) override;
    void end_block() override;

  private:
    std::string device_;
    bool in_block_ = false, has_values_ = false;
};

}  // namespace stapgen::decode
