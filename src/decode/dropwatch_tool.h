#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/line_importer.h"

namespace stapgen::decode {

/// What dropwatch(1) prints, in both of its modes:
///     3 drops at icmp_rcv+12d (0xffffffff8176ac9d) [software]         without "[software]" before version 1.5.2
///     2 drops at location 0xffffffffc0ff1234
///     7 drops at ttl_value_is_too_small [hardware]
/// and, one block for each packet:
///     drop at: nf_hook_slow+0x3b/0xc0 [nf_tables] (0xffffffff8149a8ed)
///     origin: software
///     timestamp: Tue Nov 17 00:26:51 2020 123456789 nsec
///     drop reason: NETFILTER_DROP
class DropwatchTool : public LineImporter {
  public:
    DropwatchTool();
    [[nodiscard]] std::vector<Note> notes() const override;

  private:
    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;
    bool alert(std::string_view line, Sink& sink);
    bool packet_line(std::string_view line);
    void read_timestamp(std::string_view text);
    void close_packet(Sink& sink);
    void send_drop(const std::array<Value, 4>& values, Sink& sink);
    bool message(std::string_view line, Sink& sink);

    bool in_packet_ = false;
    std::string place_, reason_, time_;  ///< of the packet whose block is being read
    std::int64_t time_ns_ = 0;
    std::int64_t last_ns_ = unknown_time;
    std::int64_t reported_ = 0;
    std::int64_t tail_dropped_ = 0;
    std::int64_t hardware_ = 0;
    bool stopped_ = false;
};

}  // namespace stapgen::decode
