#include "decode/sample_time.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "decode/calendar.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

using MaybeNumber = std::optional<std::int64_t>;

/// From min_count to max_count digits, and no further digit behind them.
MaybeNumber read_digits(Scan& scan, std::size_t min_count, std::size_t max_count) {
    std::size_t count = 0;
    std::int64_t value = 0;
    while (count < max_count && !scan.rest.empty() && base::is_digit(scan.rest[0])) {
        value = value * 10 + (scan.rest[0] - '0');
        scan.rest.remove_prefix(1);
        ++count;
    }
    if (count < min_count || (!scan.rest.empty() && base::is_digit(scan.rest[0]))) return std::nullopt;
    return value;
}

/// What was found of a time so far; each part stands there once.
struct TimeParts {
    MaybeNumber year, month, day, second_of_day, zone_s;
    std::int64_t fraction_ns = 0;
    bool is_pm = false, is_am = false;

    [[nodiscard]] std::optional<SampleTime> time() const;
};

std::optional<SampleTime> TimeParts::time() const {
    if (!year || !month || !day || !second_of_day) return std::nullopt;
    const auto midnight = epoch_of_day(*year, *month, *day);
    if (!midnight) return std::nullopt;
    auto second = *second_of_day;
    constexpr std::int64_t half_day = 12 * 3600;
    if (is_am || is_pm) {
        if (second < 3600 || second >= half_day + 3600) return std::nullopt;
        second = second % half_day + (is_pm ? half_day : 0);
    }
    const auto epoch_s = *midnight + second - zone_s.value_or(0);
    if (epoch_s < 0) return std::nullopt;
    return SampleTime{epoch_s * 1'000'000'000 + fraction_ns, zone_s.has_value()};
}

/// ".123456789" or ",123", of which digits beyond the ninth mean nothing.
std::int64_t read_fraction(Scan& scan) {
    if (!scan.skip(".") && !scan.skip(",")) return 0;
    std::int64_t value = 0, unit = 100'000'000;
    for (; !scan.rest.empty() && base::is_digit(scan.rest[0]); scan.rest.remove_prefix(1)) {
        value += (scan.rest[0] - '0') * unit;
        unit /= 10;
    }
    return value;
}

/// "00:26:51", and a fraction.
bool read_clock(Scan& scan, TimeParts& parts) {
    const auto hour = read_digits(scan, 1, 2);
    if (!hour || !scan.skip(":")) return false;
    const auto minute = read_digits(scan, 2, 2);
    if (!minute || !scan.skip(":")) return false;
    const auto second = read_digits(scan, 2, 2);
    if (!second || *hour > 23 || *minute > 59 || *second > 60 || parts.second_of_day) return false;
    parts.second_of_day = *hour * 3600 + *minute * 60 + *second;
    parts.fraction_ns = read_fraction(scan);
    return true;
}

/// "Z", "+0100", "-05:30".
bool read_zone(Scan& scan, TimeParts& parts) {
    if (parts.zone_s) return false;
    if (scan.skip("Z")) {
        parts.zone_s = 0;
        return true;
    }
    const bool is_west = scan.skip("-");
    if (!is_west && !scan.skip("+")) return false;
    auto text = scan;
    auto number = read_digits(text, 4, 4);
    if (!number) {
        text = scan;
        const auto hour = read_digits(text, 2, 2);
        if (!hour) return false;
        const auto minute = text.skip(":") ? read_digits(text, 2, 2) : MaybeNumber(0);
        if (!minute) return false;
        number = *hour * 100 + *minute;
    }
    const auto seconds = *number / 100 * 3600 + *number % 100 * 60;
    if (*number % 100 > 59 || seconds > 14 * 3600) return false;
    parts.zone_s = is_west ? -seconds : seconds;
    scan = text;
    return true;
}

/// "2020-11-17", and behind a 'T' or nothing what follows.
bool read_iso_date(Scan& scan, TimeParts& parts) {
    const auto year = read_digits(scan, 4, 4);
    if (!year || !scan.skip("-")) return false;
    const auto month = read_digits(scan, 2, 2);
    if (!month || !scan.skip("-")) return false;
    const auto day = read_digits(scan, 2, 2);
    if (!day || parts.year || parts.month || parts.day) return false;
    parts.year = year, parts.month = month, parts.day = day;
    return true;
}

/// One word of what date(1) prints.
bool read_word(std::string_view word, TimeParts& parts) {
    constexpr std::size_t max_name_length = 10;  // "Wednesday,"
    if (word.size() <= max_name_length) {
        if (weekday_number(word)) return true;
        if (const auto month = month_number(word); month && !parts.month) {
            parts.month = month;
            return true;
        }
    }
    if (word == "AM" || word == "PM") {
        const bool first = !parts.is_am && !parts.is_pm;
        (word == "PM" ? parts.is_pm : parts.is_am) = true;
        return first;
    }
    Scan clock{word};
    if (auto with = parts;
        read_clock(clock, with) && (clock.rest.empty() || read_zone(clock, with)) && clock.rest.empty()) {
        parts = with;
        return true;
    }
    Scan date{word};
    if (auto with = parts; read_iso_date(date, with)) {
        const bool with_clock = date.skip("T") && read_clock(date, with);
        if (with_clock && !date.rest.empty() && !read_zone(date, with)) return false;
        if (!date.rest.empty()) return false;
        parts = with;
        return true;
    }
    Scan offset{word};
    if (read_zone(offset, parts)) return offset.rest.empty();
    Scan number{word};
    if (const auto value = read_digits(number, 1, 4); value && number.rest.empty()) {
        const bool is_day = word.size() <= 2;
        auto& part = is_day ? parts.day : parts.year;
        if (part || (!is_day && word.size() != 4)) return false;
        part = value;
        return true;
    }
    if (word == "UTC" || word == "GMT") {
        if (parts.zone_s) return false;
        parts.zone_s = 0;
        return true;
    }
    // A zone's letters say no offset: IST has three.
    return word.size() >= 3 && word.size() <= 5 &&
           std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// "1605572811", "1605572811.123456789": seconds from 2001 to 2128, as an ID or a count may be any number.
std::optional<SampleTime> read_epoch(std::string_view line) {
    Scan scan{line};
    const auto seconds = read_digits(scan, 10, 10);
    if (!seconds || *seconds < 1'000'000'000 || *seconds >= 5'000'000'000) return std::nullopt;
    const auto ns = read_fraction(scan);
    if (!scan.rest.empty()) return std::nullopt;
    return SampleTime{*seconds * 1'000'000'000 + ns, true};
}

}  // namespace

std::optional<SampleTime> read_sample_time(std::string_view line) {
    line = base::trim(line);
    if (line.starts_with("Every ") && line.size() > 24) {
        // The command and the host stand before the time.
        const auto time = read_ctime(line.substr(line.size() - 24));
        if (!time || !time->has_year) return std::nullopt;
        return SampleTime{time->epoch_s * 1'000'000'000, false};
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

}  // namespace stapgen::decode
