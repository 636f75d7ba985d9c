#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/line_importer.h"

namespace stapgen::decode {

/// What SystemTap's example dropwatch.stp has printed since 2009:
///     Monitoring for dropped packets
///     Tue Nov 17 00:26:51 2020                                  from 2020 on; the interval's end, before its rows
///     1762 packets dropped at location 0xffffffff8149a8ed       2009
///     1762 packets dropped at unix_stream_recvmsg               2010
///     1762 packets dropped at nf_hook_slow+0x3b/0xc0 [nf_tables]          2023
///     1762 packets dropped at tcp_v4_rcv+0x1f/0x90 for reason: 3          2025
///     Stopping dropped packet monitor
/// Without times it is all one interval.
class DropwatchScript : public LineImporter {
  public:
    DropwatchScript();
    [[nodiscard]] std::vector<Note> notes() const override;

  private:
    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;
    bool row(std::string_view line, Sink& sink);
    void close_interval(Sink& sink);

    std::array<Value, 3> values_;
    std::optional<std::int64_t> interval_end_ns_;  ///< of the rows that are being read
    std::int64_t last_ns_ = unknown_time;
    bool stopped_ = false;
};

}  // namespace stapgen::decode
