// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/calendar.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

using MaybeNumber = std::optional<std::int64_t>;

constexpr std::string_view weekdays = "SunMonTueWedThuFriSat", months = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::int64_t hour_s = 3600;

/// Which of these names the word begins with, counted from 1.
MaybeNumber name_number(std::string_view word, std::string_view names) {
    for (std::size_t i = 0; i < names.size(); i += 3) {
        if (word.starts_with(names.substr(i, 3))) return static_cast<std::int64_t>(i / 3 + 1);
    }
    return std::nullopt;
}

/// Takes the numbers off the front of a text that fits a pattern with 9 for each digit, _ for a digit or a blank:
/// "99:99:99". Nothing if it does not, or has a further digit behind.
std::optional<std::array<std::int64_t, 4>> read_numbers(Scan& scan, std::string_view pattern) {
    std::array<std::int64_t, 4> numbers{};
    auto number = numbers.begin();
    if (scan.rest.size() < pattern.size()) return std::nullopt;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = scan.rest[i];
        if (pattern[i] == '9' || pattern[i] == '_') {
            if (!base::is_digit(c) && (pattern[i] == '9' || c != ' ')) return std::nullopt;
            *number = *number * 10 + (c == ' ' ? 0 : c - '0');
        } else {
            if (c != pattern[i]) return std::nullopt;
            ++number;
        }
    }
    const auto behind = scan.rest.substr(pattern.size());
    if (!behind.empty() && base::is_digit(behind[0])) return std::nullopt;
    scan.rest = behind;
    return numbers;
}

/// Seconds from 1970 to the begin of a day; nothing where there is no such day.
MaybeNumber epoch_of_day(std::int64_t year, std::int64_t month, std::int64_t day) {
    if (year < 1970 || year > 2261) return std::nullopt;
    using namespace std::chrono;
    const year_month_day date{std::chrono::year(static_cast<int>(year)),
                              std::chrono::month(static_cast<unsigned>(month)),
                              std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    return duration_cast<seconds>(sys_days(date).time_since_epoch()).count();
}

MaybeNumber second_of_day(std::int64_t hour, std::int64_t minute, std::int64_t second) {
    if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
    return hour * hour_s + minute * 60 + second;
}

/// The parts of a time found so far, each once.
struct TimeParts {
    MaybeNumber year, month, day, second, zone_s;
    std::int64_t fraction_ns = 0;
    std::optional<bool> is_pm;

    [[nodiscard]] MaybeNumber since_midnight() const;
    [[nodiscard]] std::optional<SampleTime> time() const;
};

MaybeNumber TimeParts::since_midnight() const {
    if (!second || !is_pm) return second;
    if (*second < hour_s || *second >= 13 * hour_s) return std::nullopt;
    return *second % (12 * hour_s) + (*is_pm ? 12 * hour_s : 0);
}

std::optional<SampleTime> TimeParts::time() const {
    const auto since = since_midnight();
    if (!year || !month || !day || !since) return std::nullopt;
    const auto midnight = epoch_of_day(*year, *month, *day);
    if (!midnight) return std::nullopt;
    const auto epoch_s = *midnight + *since - zone_s.value_or(0);
    if (epoch_s < 0) return std::nullopt;
    return SampleTime{epoch_s * second_ns + fraction_ns, zone_s.has_value()};
}

/// False: there is no such part, or it was there before.
template <class T>
bool set(std::optional<T>& part, std::optional<T> value) {
    if (part || !value) return false;
    part = value;
    return true;
}

/// ".123456789" or ",123", digits beyond the ninth are ignored.
std::int64_t read_fraction(Scan& scan) {
    if (!scan.skip(".") && !scan.skip(",")) return 0;
    std::int64_t value = 0, unit = second_ns / 10;
    for (; !scan.rest.empty() && base::is_digit(scan.rest[0]); scan.rest.remove_prefix(1)) {
        value += (scan.rest[0] - '0') * unit;
        unit /= 10;
    }
    return value;
}

/// "00:26:51", and a fraction.
bool read_clock(Scan& scan, TimeParts& parts) {
    auto clock = read_numbers(scan, "99:99:99");
    if (!clock) clock = read_numbers(scan, "9:99:99");
    if (!clock || !set(parts.second, second_of_day((*clock)[0], (*clock)[1], (*clock)[2]))) return false;
    parts.fraction_ns = read_fraction(scan);
    return true;
}

/// "Z", "+0100", "-05:30", "+01".
bool read_zone(Scan& scan, TimeParts& parts) {
    if (scan.skip("Z")) return set(parts.zone_s, MaybeNumber(0));
    const bool is_west = scan.skip("-");
    if (!is_west && !scan.skip("+")) return false;
    std::int64_t hour = 0, minute = 0;
    if (const auto both = read_numbers(scan, "9999")) {
        hour = (*both)[0] / 100;
        minute = (*both)[0] % 100;
    } else {
        auto zone = read_numbers(scan, "99:99");
        if (!zone) zone = read_numbers(scan, "99");
        if (!zone) return false;
        hour = (*zone)[0];
        minute = (*zone)[1];
    }
    const auto seconds = hour * hour_s + minute * 60;
    return minute <= 59 && seconds <= 14 * hour_s && set(parts.zone_s, MaybeNumber(is_west ? -seconds : seconds));
}

/// "2020-11-17".
bool read_iso_date(Scan& scan, TimeParts& parts) {
    const auto date = read_numbers(scan, "9999-99-99");
    return date && set(parts.year, MaybeNumber((*date)[0])) && set(parts.month, MaybeNumber((*date)[1])) &&
           set(parts.day, MaybeNumber((*date)[2]));
}

/// One word of what date(1) prints.
bool read_word(std::string_view word, TimeParts& parts) {
    constexpr std::size_t max_name_length = 10;  // "Wednesday,"
    if (word.size() <= max_name_length) {
        if (name_number(word, weekdays) || set(parts.month, name_number(word, months))) return true;
    }
    if (word == "AM" || word == "PM") return set(parts.is_pm, std::optional(word == "PM"));
    if (word == "UTC" || word == "GMT") return set(parts.zone_s, MaybeNumber(0));
    if (word.size() <= 4 && base::is_decimal(word)) {
        const bool is_day = word.size() <= 2;
        return (is_day || word.size() == 4) && set(is_day ? parts.day : parts.year, base::to_int(word));
    }
    Scan clock{word}, date{word}, zone{word};
    if (auto with = parts; read_clock(clock, with) && (clock.rest.empty() || read_zone(clock, with))) {
        parts = with;
        return clock.rest.empty();
    }
    if (read_iso_date(date, parts)) {
        const bool has_clock = date.skip("T") && read_clock(date, parts);
        return date.rest.empty() || (has_clock && read_zone(date, parts) && date.rest.empty());
    }
    if (read_zone(zone, parts)) return zone.rest.empty();
    // A zone's letters say no offset: IST has three.
    return word.size() >= 3 && word.size() <= 5 &&
           std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// "1605572811", "1605572811.123456789": seconds from 2001 to 2128, as an ID or a count may be any number.
std::optional<SampleTime> read_epoch(std::string_view line) {
    Scan scan{line};
    const auto seconds = read_numbers(scan, "9999999999");
    if (!seconds || (*seconds)[0] < 1'000'000'000 || (*seconds)[0] >= 5'000'000'000) return std::nullopt;
    const auto ns = read_fraction(scan);
    if (!scan.rest.empty()) return std::nullopt;
    return SampleTime{(*seconds)[0] * second_ns + ns, true};
}

}  // namespace

std::optional<CalendarTime> read_ctime(std::string_view text) {
    constexpr std::size_t before_day = 8;
    if (text.size() < before_day || text[3] != ' ' || text[7] != ' ' || !name_number(text, weekdays))
        return std::nullopt;
    const auto month = name_number(text.substr(4), months);
    Scan scan{text.substr(before_day)};
    const auto numbers = read_numbers(scan, "_9 _9:_9:_9");
    if (!month || !numbers) return std::nullopt;
    const auto& [day, hour, minute, second] = *numbers;
    const auto year = read_numbers(scan, " 9999");
    const auto midnight = epoch_of_day(year ? (*year)[1] : 2000, *month, day);  // a leap year: every day exists
    const auto since_midnight = second_of_day(hour, minute, second);
    if (!midnight || !since_midnight) return std::nullopt;
    return CalendarTime{*midnight + *since_midnight, year.has_value(), text.size() - scan.rest.size()};
}

std::optional<SampleTime> read_sample_time(std::string_view line) {
    line = base::trim(line);
    if (line.starts_with("Every ") && line.size() > 24) {
        // The command and the host precede the time.
        const auto time = read_ctime(line.substr(line.size() - 24));
        if (!time || !time->has_year) return std::nullopt;
        return SampleTime{time->epoch_s * second_ns, false};
    }
    constexpr std::size_t max_length = 64;
    if (line.size() < 10 || line.size() > max_length) return std::nullopt;
    if (auto epoch = read_epoch(line)) return epoch;
    TimeParts parts;
    for (const auto word : base::words(line)) {
        if (!read_word(word, parts)) return std::nullopt;
    }
    return parts.time();
}

std::optional<std::int64_t> read_time_of_day(std::string_view text) {
    TimeParts parts;
    for (const auto word : base::words(text)) {
        if (!read_word(word, parts)) return std::nullopt;
    }
    if (parts.year || parts.month || parts.day || parts.zone_s) return std::nullopt;
    return parts.since_midnight();
}

}  // namespace stapgen::decode
