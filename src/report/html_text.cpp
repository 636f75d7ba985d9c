#include "report/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/units.h"
#include "report/wall_time.h"

namespace stapgen::report::html {

std::string Style::cell(std::optional<std::int64_t> number) const {
    if (!number) return "-";
    if (!is_time) return fmt::format("{}", *number);
    return fmt::format("{:.{}f}", static_cast<double>(*number) / 1e3, decimals);
}

std::string Style::cell(std::optional<double> number) const {
    if (!number) return "-";
    return is_time ? fmt::format("{:.{}f}", *number / 1e3, decimals) : fmt::format("{:.2f}", *number);
}

Style style_of(const Measures& measures, bool is_time) {
    std::int64_t largest = 0;
    for (const auto* measure : measures)
        largest = std::max(largest, measure->stats.max().value_or(0));
    return {is_time, largest < 100'000'000 ? 3 : 2};
}

Measures of_whole(const std::vector<analyze::Measure>& measures) {
    Measures whole;
    for (const auto& measure : measures) {
        if (measure.group.empty()) whole.push_back(&measure);
    }
    const auto is_empty = [](const analyze::Measure* measure) { return measure->stats.n() == 0; };
    if (!std::ranges::all_of(whole, is_empty)) std::erase_if(whole, is_empty);
    return whole;
}

std::string percent(double part) {
    // Without the sign of what is rounded to nothing.
    return fmt::format("{:.1f} %", std::abs(part) < 0.0005 ? 0.0 : part * 100);
}

std::string text_of(const analyze::GroupField& field) {
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&field.value)) return *text;
    return field.key;
}

std::string place_of(const analyze::Drop& drop) {
    std::string text = drop.symbol ? *drop.symbol : fmt::format("0x{:x}", drop.address.value_or(0));
    if (drop.symbol && drop.offset) text += fmt::format("+0x{:x}", *drop.offset);
    if (drop.module) text += fmt::format(" [{}]", *drop.module);
    return text;
}

std::string reason_of(const analyze::Drop& drop) {
    if (drop.reason_name) return *drop.reason_name;
    return drop.reason < 0 ? "-" : fmt::format("{}", drop.reason);
}

std::string causes_of(const std::vector<analyze::Cause>& causes) {
    std::string text;
    for (const auto& [name, count] : causes) {
        if (count != 0) text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", name, count);
    }
    return text.empty() ? text : text + ")";
}

std::string account_of(const analyze::Accounting& accounting) {
    auto text = fmt::format("{} seen = {} reported + {} filtered + {} incomplete{} + {} lost{}", accounting.seen,
                            accounting.reported, accounting.filtered, accounting.incomplete_total(),
                            causes_of(accounting.incomplete), accounting.lost_total(), causes_of(accounting.lost));
    const auto rest = accounting.unaccounted();
    if (rest > 0) text += fmt::format(" + {} unaccounted", rest);
    if (rest < 0) text += fmt::format(" - {} unaccounted", 0 - static_cast<std::uint64_t>(rest));
    return text;
}

std::vector<std::string> warnings_of(const analyze::Summary& summary) {
    const auto& accounting = summary.accounting;
    const auto& transport = summary.transport;
    std::vector<std::string> texts;
    const auto warn = [&texts](bool condition, std::string text) {
        if (condition) texts.push_back(std::move(text));
    };
    warn(accounting.lost_total() != 0,
         fmt::format("{} of {} seen were lost", accounting.lost_total(), accounting.seen));
    warn(accounting.unaccounted() != 0, "the script's counts do not add up");
    warn(!accounting.closed, "the input stops without its last line; the counts are those of its last tick and later");
    warn(transport.skipped_probes != 0, fmt::format("SystemTap skipped {} probes", transport.skipped_probes));
    warn(transport.probe_errors != 0, fmt::format("{} probes ended in an error", transport.probe_errors));
    warn(transport.transport_failures != 0,
         fmt::format("the way to user space was full {} times", transport.transport_failures));
    return texts;
}

std::string not_understood(const analyze::Summary& summary) {
    const auto& input = summary.input;
    if (input.unrecognised == 0) return "";
    auto text = fmt::format("{} of {} lines not understood", input.unrecognised, input.lines);
    std::string_view separator = ": ";
    for (const auto& [number, flaw] : input.first_flaws) {
        text += fmt::format("{}line {} ({})", separator, number, decode::describe(flaw));
        separator = ", ";
    }
    if (input.unrecognised > static_cast<std::int64_t>(input.first_flaws.size())) text += ", ...";
    return text;
}

std::string span_of(const analyze::Summary& summary) {
    const auto& start = summary.start_epoch_ns;
    const auto& end = summary.end_epoch_ns;
    if (!start) return "";
    if (!end || *end <= *start || *start < 0) return local_time(*start);
    return fmt::format("{}, for {}", local_time(*start),
                       base::format_duration(std::chrono::nanoseconds(*end - *start)));
}

}  // namespace stapgen::report::html
