#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "decode/counter_reader.h"
#include "decode/line_importer.h"

namespace stapgen::decode {

/// Counters as tools print them, once or several times: nstat, netstat -s, ip -s link, ifconfig, ethtool -S, and the
/// files of /proc/net that they read. Times between them (date) are of what follows. How far they rose is told by
/// whoever has all readings: analyze/counter_tracks.h.
class CounterSamples : public LineImporter {
  public:
    CounterSamples();
    [[nodiscard]] std::vector<Note> notes() const override;

  private:
    /// So many counters of one sample are told apart; the lines of further ones are not understood.
    static constexpr std::size_t max_counters = 65536;

    struct Format {
        std::unique_ptr<CounterReader> reader;
        std::int64_t sample = 0;
        std::unordered_set<std::string> seen{};  ///< counters of this sample
    };

    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& /*sink*/) override {}
    bool read(Format& format, Sink& sink);
    void tell(Format& format, Sink& sink);

    std::vector<Format> formats_;
    std::size_t last_ = 0;
    CounterText text_;
    CounterLine told_;
    std::string key_;
    std::int64_t epoch_ns_ = unknown_time;
    bool has_local_times_ = false, has_rises_ = false, has_unnamed_device_ = false;
};

}  // namespace stapgen::decode
