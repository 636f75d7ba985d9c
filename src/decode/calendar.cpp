#include "decode/calendar.h"

#include <chrono>

#include "base/text.h"

namespace stapgen::decode {

namespace {

/// Which of the three-letter names it is, counted from 0; nothing if none.
std::optional<unsigned> name_of(std::string_view text, std::string_view names) {
    for (std::size_t i = 0; i < names.size(); i += 3) {
        if (text == names.substr(i, 3)) return static_cast<unsigned>(i / 3);
    }
    return std::nullopt;
}

/// Two digits; the first may be a blank. 100 if it is none.
unsigned two_digits(char tens, char ones) {
    if (!base::is_digit(ones) || (tens != ' ' && !base::is_digit(tens))) return 100;
    return static_cast<unsigned>((tens == ' ' ? 0 : tens - '0') * 10 + (ones - '0'));
}

}  // namespace

std::optional<CalendarTime> read_ctime(std::string_view text) {
    constexpr std::size_t without_year = 19, with_year = 24;
    if (text.size() < without_year || text[3] != ' ' || text[7] != ' ' || text[10] != ' ' || text[13] != ':' ||
        text[16] != ':' || !name_of(text.substr(0, 3), "SunMonTueWedThuFriSat")) {
        return std::nullopt;
    }
    const auto month = name_of(text.substr(4, 3), "JanFebMarAprMayJunJulAugSepOctNovDec");
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
            if (year < 1970 || year > 2261) return std::nullopt;
        }
    }
    using namespace std::chrono;
    const year_month_day date{std::chrono::year(year), std::chrono::month(*month + 1), std::chrono::day(day)};
    if (!date.ok()) return std::nullopt;
    const auto days = sys_days(date).time_since_epoch();
    time.epoch_s = duration_cast<seconds>(days).count() + hour * 3600 + minute * 60 + second;
    return time;
}

}  // namespace stapgen::decode
