#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/line_importer.h"

namespace stapgen::decode {

/// The lines of Jacob Leverich's track.stp (memcached, 2013):
///     rx=2181 tcpip_rx=3456 epoll=9876 wait=456 read=789 memcached=4321 tx=6543 total=27622 epoll_return=1013 count=97
/// Means in ns since the start of the script; epoll_return in thousandths of a number. Sent as RunningMeans.
class Tracker : public LineImporter {
  public:
    Tracker();
    [[nodiscard]] std::vector<Note> notes() const override;

  private:
    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;

    std::array<RunningMean, 9> means_;
    bool cut_was_changed_ = false;  ///< a mean is above the original script's cut
};

}  // namespace stapgen::decode
