// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"
#include "decode/calendar.h"
#include "decode/importers.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::int64_t half_hour_s = 1800;

// gettimeofday_us() of a step that was never noted is 0, which leaves the clock itself: 10^15 us since 2001.
constexpr std::int64_t max_us = 100'000'000'000'000;

enum Direction : std::size_t { rx, tx };

/// The texts before the numbers of each direction, and behind them.
constexpr std::array<std::array<std::string_view, 3>, 2> stage_names{
    {{"drv-ip: ", "ip-tcp: ", "tcp-app: "}, {"app-tcp: ", "tcp-ip: ", "ip-drv: "}}};
constexpr std::array<std::string_view, 3> stage_ends{" us,", " us,", " us."};

// Places of the fields.
constexpr std::size_t time_field = 0, direction_field = 1, comm_field = 2, pid_field = 3, first_stage = 4;

std::int64_t floor_to_half_hour(std::int64_t seconds) {
    const auto rest = seconds % half_hour_s;
    return seconds - (rest < 0 ? rest + half_hour_s : rest);
}

/// The lines of the script in Red Hat's article "How do I profile TCP/IP kernel times?", as its terminal shows them
/// and as a file has them:
///     Wed Mar  2 16:01:36 |I| drv-ip: 23 us,     ip-tcp: 34 us,      tcp-app: 189 us.     | Proc firefox, PID 19550
///     Wed Mar  2 16:01:36 2011 \b\b\b\b\b\b |I| drv-ip: 23 us,\tip-tcp: ...
/// The file has the year, and six backspaces that make a terminal overwrite it. A stage whose start the script had
/// forgotten is negative or as large as a clock: it was not seen.
class StageTiming final : public Importer {
  public:
    StageTiming()
        : Importer("RHEL stage timing", 1000, "stage-timing",
                   {"packet time:time way:text comm:text pid:int drv-ip:stage ip-tcp:stage tcp-app:stage app-tcp:stage "
                    "tcp-ip:stage ip-drv:stage"}) {
        for (auto& values : values_)
            values.fill(not_seen);
        values_[rx][direction_field] = {"rx"};
        values_[tx][direction_field] = {"tx"};
    }

    std::vector<Note> notes() const override {
        std::vector<Note> notes;
        add_count(notes, unseen_, "stages are ignored: negative, or as large as a clock");
        if (const auto ahead = offset_.rx_ahead_s(); ahead != 0) {
            notes.emplace_back(
                fmt::format("times are those of |{}| lines: the clock of |I| lines is {:g} h {} that of |O| lines",
                            first_direction_ == tx ? 'O' : 'I', static_cast<double>(std::abs(ahead)) / 3600,
                            ahead > 0 ? "ahead of" : "behind"),
                NoteKind::clock);
        }
        if (!has_year_) notes.emplace_back("times count from the first line: the lines have no year", NoteKind::clock);
        return notes;
    }

  private:
    /// How far the clocks of the two directions are apart. The script adds hours to one by hand. Lines stand in the
    /// order in which they were written, so each change of direction gives a bound.
    class ClockOffset {
      public:
        void saw(Direction direction, std::int64_t epoch_s) {
            const auto passed_s = epoch_s - std::exchange(last_s_, epoch_s);
            const auto before = std::exchange(last_, direction);
            if (!before || *before == direction) return;
            if (direction == tx) {
                if (-passed_s <= least_s_) return;
                least_s_ = -passed_s;
                if (least_s_ > max_s_) max_s_ = none;  // a clock was set: begin anew
            } else {
                if (passed_s >= max_s_) return;
                max_s_ = passed_s;
                if (least_s_ > max_s_) least_s_ = -none;
            }
            rx_ahead_s_ = nearest_to_zero();
        }

        /// By how much rx is ahead of tx: of the half hours that are possible the nearest to 0.
        [[nodiscard]] std::int64_t rx_ahead_s() const { return rx_ahead_s_; }

      private:
        [[nodiscard]] std::int64_t nearest_to_zero() const {
            const bool has_least = least_s_ != -none, has_max = max_s_ != none;
            const auto least = has_least ? floor_to_half_hour(least_s_ + half_hour_s - 1) : 0;
            const auto max = has_max ? floor_to_half_hour(max_s_) : 0;
            // With one bound only, what is near to it is likely: most lines follow each other in less than a minute.
            constexpr std::int64_t near_s = 60;
            if (!has_max) return least_s_ > 0 || least - least_s_ <= near_s ? least : 0;
            if (!has_least) return max_s_ < 0 || max_s_ - max <= near_s ? max : 0;
            return least > 0 ? least : std::min<std::int64_t>(max, 0);
        }

        static constexpr auto none = std::numeric_limits<std::int64_t>::max();
        std::optional<Direction> last_;
        std::int64_t last_s_ = 0;
        std::int64_t least_s_ = -none, max_s_ = none;  ///< bounds of what rx is ahead
        std::int64_t rx_ahead_s_ = 0;
    };

    bool line(std::string_view line, Sink& sink) override {
        if (!read_time(line)) return false;
        Scan scan{line};
        scan.rest.remove_prefix(time_text_.size());
        scan.skip(" \b\b\b\b\b\b ");  // as most lines have it
        scan.blanks();
        if (scan.skip("|I|")) return packet<rx>(line, scan, sink);
        return scan.skip("|O|") && packet<tx>(line, scan, sink);
    }

    template <Direction direction>
    bool packet(std::string_view line, Scan scan, Sink& sink) {
        auto& values = values_[direction];
        if (!read_stages<direction>(scan) || !read_process(scan.rest, values)) return false;
        for (std::size_t i = 0; i < 3; ++i) {
            auto& value = values[first_stage + 3 * direction + i];
            value.seen = value.number >= 0 && value.number < max_us;
            if (value.seen) {
                value.number *= 1000;
            } else {
                value = not_seen;
                ++unseen_;
            }
        }
        const bool is_first = !first_direction_;
        values[time_field] = {{line.data(), time_text_.size()}, time_of(direction)};
        if (is_first && has_year_) send(sink, Ready{last_ns_, last_ns_});
        send(sink, Record{&schema(), values});
        return true;
    }

    void finished(Sink& sink) override { send(sink, End{has_year_ ? last_ns_ : unknown_time, {}}); }

    bool read_time(std::string_view line) {
        const auto length = time_text_.size();
        if (length != 0 && Scan{line}.begins_with(time_text_)) {
            if (time_has_year_ || line.size() < length + 2 || line[length + 1] == '|') return true;
        }
        const auto time = read_ctime(line);
        if (!time) return false;
        time_text_.assign(line.substr(0, time->length));
        time_s_ = time->epoch_s;
        time_has_year_ = time->has_year;
        return true;
    }

    template <Direction direction, std::size_t stage>
    [[gnu::always_inline]] bool read_stage(Scan& scan) {
        auto& value = values_[direction][first_stage + 3 * direction + stage];
        scan.blanks();
        return scan.skip(stage_names[direction][stage]) && scan.number(value.number, value.raw) &&
               scan.skip(stage_ends[stage]);
    }
    /// Up to the process's name.
    template <Direction direction>
    [[gnu::always_inline]] bool read_stages(Scan& scan) {
        // col -b lets no blank overwrite: the last digit of the year stays.
        if (!scan.rest.empty() && base::is_digit(scan.rest[0])) scan.rest.remove_prefix(1);
        if (!read_stage<direction, 0>(scan) || !read_stage<direction, 1>(scan) || !read_stage<direction, 2>(scan))
            return false;
        scan.blanks();
        return scan.skip("| Proc ");
    }

    static bool read_process(std::string_view text, std::array<Value, 10>& values) {
        while (text.ends_with(' ') || text.ends_with('\t'))
            text.remove_suffix(1);
        const auto digits = begin_of_last_digits(text, '-');
        const auto pid = base::to_int(text.substr(digits));
        const auto before = text.substr(0, digits);
        // A process may have any name: the last ", PID " counts.
        constexpr std::string_view border = ", PID ";
        if (!pid || !before.ends_with(border)) return false;
        values[comm_field] = {before.substr(0, before.size() - border.size())};
        values[pid_field] = {text.substr(digits), *pid};
        return true;
    }

    std::int64_t time_of(Direction direction) {
        if (!first_direction_) {
            first_direction_ = direction;
            has_year_ = time_has_year_;
            first_s_ = time_s_;
        }
        if (time_has_year_ != has_year_) return last_ns_;  // two texts in one: the other clock is not known
        auto seconds = time_s_;
        offset_.saw(direction, seconds);
        if (direction != *first_direction_) seconds += direction == tx ? offset_.rx_ahead_s() : -offset_.rx_ahead_s();
        if (!has_year_) {
            constexpr std::int64_t days_of_2000 = 366, day_s = 86400;
            seconds -= first_s_;
            if (seconds < -days_of_2000 / 2 * day_s) seconds += days_of_2000 * day_s;
        }
        constexpr std::int64_t max_s = std::numeric_limits<std::int64_t>::max() / second_ns;
        last_ns_ = std::clamp<std::int64_t>(seconds, 0, max_s) * second_ns;
        return last_ns_;
    }

    std::array<std::array<Value, 10>, 2> values_;
    std::string time_text_;  ///< of the last line: the next one is often of the same second
    std::int64_t time_s_ = 0;
    bool time_has_year_ = false;

    std::optional<Direction> first_direction_;
    bool has_year_ = true;
    std::int64_t first_s_ = 0;
    std::int64_t last_ns_ = 0;
    ClockOffset offset_;
    std::int64_t unseen_ = 0;
};

}  // namespace

const MakeImporter make_stage_timing = make_importer<StageTiming>;

}  // namespace stapgen::decode
