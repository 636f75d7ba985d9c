#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/line_importer.h"
#include "decode/scan.h"

namespace stapgen::decode {

/// The lines of the script in Red Hat's article "How do I profile TCP/IP kernel times?", as its terminal shows them
/// and as a file has them:
///     Wed Mar  2 16:01:36 |I| drv-ip: 23 us,     ip-tcp: 34 us,      tcp-app: 189 us.     | Proc firefox, PID 19550
///     Wed Mar  2 16:01:36 2011 \b\b\b\b\b\b |I| drv-ip: 23 us,\tip-tcp: ...
/// The file has the year, and six backspaces that make a terminal overwrite it. A stage whose start the script had
/// forgotten is negative or as large as a clock: it was not seen.
class StageTiming : public LineImporter {
  public:
    StageTiming();
    [[nodiscard]] std::vector<Note> notes() const override;

  private:
    enum Way : std::size_t { rx, tx };

    /// How far the clocks of the two ways are apart. The script adds hours to one by hand. Lines are in the order in
    /// which they were written, so that each change of way gives a bound.
    class ClockOffset {
      public:
        void saw(Way direction, std::int64_t epoch_s);
        /// By how much rx is ahead of tx: of the half hours that are possible the nearest to 0.
        [[nodiscard]] std::int64_t rx_ahead_s() const { return ahead_s_; }

      private:
        [[nodiscard]] std::int64_t nearest_to_zero() const;

        std::optional<Way> last_way_;
        std::int64_t last_s_ = 0;
        std::int64_t least_s_ = std::numeric_limits<std::int64_t>::min();
        std::int64_t max_s_ = std::numeric_limits<std::int64_t>::max();
        std::int64_t ahead_s_ = 0;
    };

    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;
    bool read_time(std::string_view line);
    template <Way direction>
    bool read_stages(Scan& scan);
    static bool read_process(Scan& scan, std::array<Value, 10>& values);
    std::int64_t time_of(Way direction);

    std::array<std::array<Value, 10>, 2> values_;
    std::string time_text_;  ///< of the last line: the next one is often of the same second
    std::int64_t time_s_ = 0;
    bool time_has_year_ = false;

    std::optional<Way> first_way_;
    bool has_year_ = true;
    std::int64_t first_s_ = 0;
    std::int64_t last_ns_ = 0;
    ClockOffset offset_;
    std::int64_t unseen_ = 0;
};

}  // namespace stapgen::decode
