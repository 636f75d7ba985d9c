#include "decode/calendar.h"

#include <chrono>

#include "base/text.h"

namespace stapgen::decode {

namespace {

/// Which of some three-letter names the word begins with, counted from 1.
std::optional<std::int64_t> name_number(std::string_view word, std::string_view names) {
    for (std::size_t i = 0; i < names.size(); i += 3) {
        if (word.starts_with(names.substr(i, 3))) return static_cast<std::int64_t>(i / 3 + 1);
    }
    return std::nullopt;
}

/// Two digits; the first may be a blank. 100 if it is none.
unsigned two_digits(char tens, char ones) {
    if (!base::is_digit(ones) || (tens != ' ' && !base::is_digit(tens))) return 100;
    return static_cast<unsigned>((tens == ' ' ? 0 : tens - '0') * 10 + (ones - '0'));
}

}  // namespace

std::optional<std::int64_t> weekday_number(std::string_view word) {
    return name_number(word, "SunMonTueWedThuFriSat");
}

std::optional<std::int64_t> month_number(std::string_view word) {
    return name_number(word, "JanFebMarAprMayJunJulAugSepOctNovDec");
}

std::optional<std::int64_t> epoch_of_day(std::int64_t year, std::int64_t month, std::int64_t day) {
    if (year < 1970 || year > 2261) return std::nullopt;
    using namespace std::chrono;
    const year_month_day date{std::chrono::year(static_cast<int>(year)),
                              std::chrono::month(static_cast<unsigned>(month)),
                              std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    return duration_cast<seconds>(sys_days(date).time_since_epoch()).count();
}

std::optional<CalendarTime> read_ctime(std::string_view text) {
    constexpr std::size_t without_year = 19, with_year = 24;
    if (text.size() < without_year || text[3] != ' ' || text[7] != ' ' || text[10] != ' ' || text[13] != ':' ||
        text[16] != ':' || !weekday_number(text.substr(0, 3))) {
        return std::nullopt;
    }
    const auto month = month_number(text.substr(4, 3));
    const auto day = two_digits(text[8], text[9]), hour = two_digits(text[11], text[12]),
               minute = two_digits(text[14], text[15]), second = two_digits(text[17], text[18]);
    if (!month || hour > 23 || minute > 59 || second > 60) return std::nullopt;

    CalendarTime time{0, false, without_year};
    int year = 2000;  // a leap year: every day exists
    if (text.size() >= with_year && text[19] == ' ' && (text.size() == with_year || !base::is_digit(text[with_year]))) {
        const auto century = two_digits(text[20], text[21]), rest = two_digits(text[22], text[23]);
        if (text[20] != ' ' && text[22] != ' ' && century < 100 && rest < 100) {
            year = static_cast<int>(century * 100 + rest);
            time.has_year = true;
            time.length = with_year;
        }
    }
    const auto midnight = epoch_of_day(year, *month, day);
    if (!midnight) return std::nullopt;
    time.epoch_s = *midnight + hour * 3600 + minute * 60 + second;
    return time;
}

}  // namespace stapgen::decode
