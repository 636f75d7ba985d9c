// SPDX-License-Identifier: GPL-2.0-or-later
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

enum Direction : std::size_t { rx, tx };

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

    std::unique_ptr<Importer> fork() const override {
        if (!first_direction_) return nullptr;
        auto piece = std::make_unique<StageTiming>();
        piece->set_begun();
        piece->first_direction_ = first_direction_;
        piece->has_year_ = has_year_;
        piece->first_s_ = first_s_;
        piece->offset_ = offset_.fork();
        return piece;
    }
    bool join(const Importer& other, Sink& /*sink*/) override {
        const auto& piece = static_cast<const StageTiming&>(other);
        if (piece.other_clock_ || !offset_.join(piece.offset_)) return false;
        if (!piece.offset_.is_empty()) last_ns_ = piece.last_ns_;
        unseen_ += piece.unseen_;
        return true;
    }

  private:
    /// How far the clocks of the two directions are apart. The script adds hours to one by hand. Lines stand in the
    /// order in which they were written, so each change of direction gives a bound.
    class ClockOffset {
      public:
        void saw(Direction direction, std::int64_t epoch_s) {
            if (last_ && last_->direction != direction) {
                const auto passed_s = epoch_s - last_->epoch_s;
                if (direction == tx ? -passed_s > bounds_.least_s : passed_s < bounds_.max_s)
                    narrow(direction, passed_s);
            }
            if (!last_) first_ = {direction, epoch_s};
            last_ = {direction, epoch_s};
        }

        [[nodiscard]] bool is_empty() const { return !last_; }
        /// By how much rx is ahead of tx: of the half hours that are possible the nearest to 0.
        [[nodiscard]] std::int64_t rx_ahead_s() const { return ahead_s_; }

        /// That of a piece: what it says stays, and its own lines are kept for join().
        [[nodiscard]] ClockOffset fork() const {
            ClockOffset piece;
            piece.is_piece_ = true;
            piece.ahead_s_ = ahead_s_;
            return piece;
        }
        /// Goes on behind the lines of a piece. False, and nothing has changed: with all lines before it the piece
        /// would have said something else somewhere.
        bool join(const ClockOffset& piece) {
            if (!piece.last_) return true;
            auto bounds = bounds_;
            if (last_ && piece.first_->direction != last_->direction)
                bounds.narrow(piece.first_->direction, piece.first_->epoch_s - last_->epoch_s);
            bounds.narrow(tx, -piece.bounds_.least_s);
            bounds.narrow(rx, piece.bounds_.max_s);
            // Between both bounds, which only come nearer to each other, what is said goes one way.
            const bool is_new = bounds.least_s != bounds_.least_s || bounds.max_s != bounds_.max_s;
            if (is_new && (!bounds_.has_least() || !bounds_.has_max() || bounds.least_s > bounds.max_s)) return false;
            if (ahead_s_ != piece.ahead_s_ || bounds.nearest_to_zero() != ahead_s_) return false;
            bounds_ = bounds;
            last_ = piece.last_;
            return true;
        }

      private:
        struct Bounds {
            static constexpr auto none = std::numeric_limits<std::int64_t>::max();
            std::int64_t least_s = -none, max_s = none;

            [[nodiscard]] bool has_least() const { return least_s != -none; }
            [[nodiscard]] bool has_max() const { return max_s != none; }
            void narrow(Direction direction, std::int64_t passed_s) {
                if (direction == tx) least_s = std::max(least_s, -passed_s);
                if (direction == rx) max_s = std::min(max_s, passed_s);
            }
            [[nodiscard]] std::int64_t nearest_to_zero() const {
                const auto least = has_least() ? floor_to_half_hour(least_s + half_hour_s - 1) : 0;
                const auto max = has_max() ? floor_to_half_hour(max_s) : 0;
                // With one bound only, what is near to it is likely: most lines follow each other in less than a
                // minute.
                constexpr std::int64_t near_s = 60;
                if (!has_max()) return least_s > 0 || least - least_s <= near_s ? least : 0;
                if (!has_least()) return max_s < 0 || max_s - max <= near_s ? max : 0;
                return least > 0 ? least : std::min<std::int64_t>(max, 0);
            }
        };
        struct Moment {
            Direction direction;
            std::int64_t epoch_s;
        };

        void narrow(Direction direction, std::int64_t passed_s) {
            bounds_.narrow(direction, passed_s);
            if (is_piece_) return;
            if (bounds_.least_s > bounds_.max_s) {  // a clock was set: begin anew
                bounds_ = {};
                bounds_.narrow(direction, passed_s);
            }
            ahead_s_ = bounds_.nearest_to_zero();
        }

        bool is_piece_ = false;
        std::optional<Moment> first_, last_;
        Bounds bounds_;
        std::int64_t ahead_s_ = 0;
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

    /// What stands between two numbers. `in_file`: as a file has it, and not a terminal's copy.
    [[gnu::always_inline]] static bool skip(Scan& scan, std::string_view in_file, std::string_view unit,
                                            std::string_view name) {
        if (scan.skip(in_file)) return true;
        if (!scan.skip(unit)) return false;
        scan.blanks();
        return scan.skip(name);
    }
    [[gnu::always_inline]] static bool read(Scan& scan, Value& value) { return scan.number(value.number, value.raw); }

    /// Up to the process's name.
    template <Direction direction>
    [[gnu::always_inline]] bool read_stages(Scan& scan) {
        // col -b lets no blank overwrite: the last digit of the year stays.
        if (!scan.rest.empty() && base::is_digit(scan.rest[0])) scan.rest.remove_prefix(1);
        scan.blanks();
        Value* const values = &values_[direction][first_stage + 3 * direction];
        if constexpr (direction == rx) {
            return scan.skip("drv-ip: ") && read(scan, values[0]) && skip(scan, " us,\tip-tcp: ", " us,", "ip-tcp: ") &&
                   read(scan, values[1]) && skip(scan, " us,\t tcp-app: ", " us,", "tcp-app: ") &&
                   read(scan, values[2]) && skip(scan, " us.\t| Proc ", " us.", "| Proc ");
        }
        return scan.skip("app-tcp: ") && read(scan, values[0]) && skip(scan, " us,\ttcp-ip: ", " us,", "tcp-ip: ") &&
               read(scan, values[1]) && skip(scan, " us,\t ip-drv: ", " us,", "ip-drv: ") && read(scan, values[2]) &&
               skip(scan, " us.\t\t| Proc ", " us.", "| Proc ");
    }

    [[gnu::always_inline]] static bool read_process(std::string_view text, std::array<Value, 10>& values) {
        const char *const name = text.data(), *end = name + text.size();
        while (end != name && (end[-1] == ' ' || end[-1] == '\t'))
            --end;
        std::int64_t pid = 0;
        const char* const digits = read_last_number(name, end, pid);
        // A process may have any name: the last ", PID " counts.
        constexpr std::string_view border = ", PID ";
        const char* const name_end = digits - border.size();
        if (digits == end || digits - name < std::ssize(border) ||
            !Scan{{name_end, border.size()}}.begins_with(border)) {
            return false;
        }
        values[comm_field] = {{name, static_cast<std::size_t>(name_end - name)}};
        values[pid_field] = {{digits, static_cast<std::size_t>(end - digits)}, pid};
        return true;
    }

    std::int64_t time_of(Direction direction) {
        if (!first_direction_) {
            first_direction_ = direction;
            has_year_ = time_has_year_;
            first_s_ = time_s_;
        }
        if (time_has_year_ != has_year_) {  // two texts in one: the other clock is not known
            other_clock_ = true;
            return last_ns_;
        }
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
    bool other_clock_ = false;  ///< a time was of it
    ClockOffset offset_;
    std::int64_t unseen_ = 0;
};

}  // namespace

const MakeImporter make_stage_timing = make_importer<StageTiming>;

}  // namespace stapgen::decode
