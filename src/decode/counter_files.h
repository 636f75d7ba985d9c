#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "decode/counter_reader.h"

namespace stapgen::decode {

/// /proc/net/snmp and /proc/net/netstat: a line of names and one of values for each group.
///     Udp: InDatagrams NoPorts InErrors OutDatagrams
///     Udp: 225645 9337 1408 236183
class SnmpFile : public CounterReader {
  public:
    [[nodiscard]] std::string_view format() const override { return "/proc/net/snmp"; }
    bool line(const CounterText& text, CounterLine& out) override;

  private:
    std::map<std::string, std::vector<std::string>, std::less<>> names_;  ///< by group
};

/// What nstat prints, and /proc/net/snmp6: a name and a number, of nstat a rate behind it.
///     #kernel
///     IpInReceives                    2101517            0.0
///     Udp6InDatagrams                 95254
/// Without -a nstat prints by how much counters rose since its last call. Only the command tells that: "nstat -s".
class NstatText : public CounterReader {
  public:
    [[nodiscard]] std::string_view format() const override { return "nstat"; }
    [[nodiscard]] bool leaves_out_zeros() const override { return true; }
    [[nodiscard]] bool tells_rises() const override { return rises_; }
    bool line(const CounterText& text, CounterLine& out) override;

  private:
    bool rises_ = false;
};

/// /proc/net/softnet_stat: a line of 9 to 15 numbers of eight hexadecimal digits for each CPU.
class SoftnetFile : public CounterReader {
  public:
    [[nodiscard]] std::string_view format() const override { return "/proc/net/softnet_stat"; }
    bool line(const CounterText& text, CounterLine& out) override;

  private:
    std::int64_t next_line_ = -1;
    std::uint32_t cpu_ = 0;  ///< of the next line, in kernels that do not tell it
};

/// /proc/net/dev: NAME: and 16 numbers for each device, below two lines of headings. Names are "dev.rx_drop", as the
/// kernel adds several counters of `ip -s link` up for most of them (dev_seq_printf_stats in net/core/net-procfs.c).
class ProcNetDev : public CounterReader {
  public:
    [[nodiscard]] std::string_view format() const override { return "/proc/net/dev"; }
    bool line(const CounterText& text, CounterLine& out) override;
};

}  // namespace stapgen::decode
