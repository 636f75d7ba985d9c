#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "decode/calendar.h"
#include "decode/importers.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::int64_t half_hour_s = 1800;

// gettimeofday_us() of a step that was never noted is 0, which leaves the clock itself: 10^15 us since 2001.
constexpr std::int64_t max_us = 100'000'000'000'000;

struct DirectionText {
    std::string_view mark;
    std::array<std::string_view, 3> stages;
};
constexpr std::array<DirectionText, 2> directions{DirectionText{"|I|", {"drv-ip: ", "ip-tcp: ", "tcp-app: "}},
                                                  DirectionText{"|O|", {"app-tcp: ", "tcp-ip: ", "ip-drv: "}}};

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
        add_count(notes, unseen_, "stages were not seen: negative, or as large as a clock");
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
    enum Direction : std::size_t { rx, tx };

    /// How far the clocks of the two directions are apart. The script adds hours to one by hand. Lines stand in the
    /// order in which they were written, so each change of direction gives a bound.
    class ClockOffset {
      public:
        void saw(Direction direction, std::int64_t epoch_s) {
            if (last_direction_ && *last_direction_ != direction) {
                const auto passed_s = epoch_s - last_s_;
                if (direction == tx) {
                    least_s_ = std::max(least_s_, -passed_s);
                } else {
                    max_s_ = std::min(max_s_, passed_s);
                }
                if (least_s_ > max_s_) {  // a clock was set: begin anew
                    least_s_ = direction == tx ? -passed_s : std::numeric_limits<std::int64_t>::min();
                    max_s_ = direction == rx ? passed_s : std::numeric_limits<std::int64_t>::max();
                }
                ahead_s_ = nearest_to_zero();
            }
            last_direction_ = direction;
            last_s_ = epoch_s;
        }

        /// By how much rx is ahead of tx: of the half hours that are possible the nearest to 0.
        [[nodiscard]] std::int64_t rx_ahead_s() const { return ahead_s_; }

      private:
        std::int64_t nearest_to_zero() const {
            const bool has_least = least_s_ != std::numeric_limits<std::int64_t>::min();
            const bool has_most = max_s_ != std::numeric_limits<std::int64_t>::max();
            const auto least = has_least ? floor_to_half_hour(least_s_ + half_hour_s - 1) : 0;
            const auto max = has_most ? floor_to_half_hour(max_s_) : 0;
            // With one bound only, what is near to it is likely: most lines follow each other in less than a minute.
            constexpr std::int64_t near_s = 60;
            if (!has_most) return least_s_ > 0 || least - least_s_ <= near_s ? least : 0;
            if (!has_least) return max_s_ < 0 || max_s_ - max <= near_s ? max : 0;
            return least > 0 ? least : std::min<std::int64_t>(max, 0);
        }

        std::optional<Direction> last_direction_;
        std::int64_t last_s_ = 0;
        std::int64_t least_s_ = std::numeric_limits<std::int64_t>::min();
        std::int64_t max_s_ = std::numeric_limits<std::int64_t>::max();
        std::int64_t ahead_s_ = 0;
    };

    bool line(std::string_view line, Sink& sink) override {
        if (!read_time(line)) return false;
        Scan scan{line.substr(time_text_.size())};
        scan.blanks();
        const Direction direction = scan.rest.starts_with(directions[rx].mark) ? rx : tx;
        auto& values = values_[direction];
        if (!(direction == rx ? read_stages<rx>(scan) : read_stages<tx>(scan)) || !read_process(scan, values))
            return false;

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
        values[time_field] = {line.substr(0, time_text_.size()), time_of(direction)};
        if (is_first && has_year_) send(sink, Ready{last_ns_, last_ns_});
        send(sink, Record{&schema(), values});
        return true;
    }

    void finished(Sink& sink) override { send(sink, End{has_year_ ? last_ns_ : unknown_time, {}}); }

    bool read_time(std::string_view line) {
        const auto length = time_text_.size();
        if (length != 0 && line.starts_with(time_text_)) {
            if (time_has_year_ || line.size() < length + 2 || line[length + 1] == '|') return true;
        }
        const auto time = read_ctime(line);
        if (!time) return false;
        time_text_.assign(line.substr(0, time->length));
        time_s_ = time->epoch_s;
        time_has_year_ = time->has_year;
        return true;
    }

    template <Direction direction>
    bool read_stages(Scan& scan) {
        constexpr auto& text = directions[direction];
        if (!scan.skip(text.mark)) return false;
        // col -b lets no blank overwrite: the last digit of the year stays.
        if (!scan.rest.empty() && scan.rest[0] >= '0' && scan.rest[0] <= '9') scan.rest.remove_prefix(1);
        Value* const values = &values_[direction][first_stage + 3 * direction];
        const auto read = [&](std::string_view name, Value & value, std::string_view unit)
            __attribute__((always_inline)) {
            scan.blanks();
            return scan.skip(name) && scan.number(value.number, value.raw) && scan.skip(unit);
        };
        return read(text.stages[0], values[0], " us,") && read(text.stages[1], values[1], " us,") &&
               read(text.stages[2], values[2], " us.");
    }

    static bool read_process(Scan& scan, std::array<Value, 10>& values) {
        scan.blanks();
        if (!scan.skip("| Proc ")) return false;
        // A process may have any name: the last ", PID " counts.
        auto text = scan.rest;
        while (text.ends_with(' ') || text.ends_with('\t'))
            text.remove_suffix(1);
        const auto digits = begin_of_last_digits(text, '-');
        constexpr std::string_view border = ", PID ";
        if (digits < border.size() || text.substr(digits - border.size(), border.size()) != border) return false;
        auto& pid = values[pid_field];
        Scan number{text.substr(digits)};
        values[comm_field] = {text.substr(0, digits - border.size())};
        pid.seen = number.number(pid.number, pid.raw) && number.rest.empty();
        return pid.seen;
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
