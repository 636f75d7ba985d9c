#include "decode/skb_drops.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/saturate.h"
#include "base/text.h"
#include "decode/kernel_event.h"

namespace stapgen::decode {

namespace {

/// The place may have a blank: "nf_hook_slow+0x3b/0xc0 [nf_tables]".
std::string_view location(std::string_view arguments) {
    const auto place = argument(arguments, "location=");
    if (place.empty()) return place;
    const auto rest = arguments.substr(static_cast<std::size_t>(place.end() - arguments.begin()));
    if (!rest.starts_with(" [")) return place;
    const auto end = rest.find(']');
    return end == std::string_view::npos ? place : std::string_view(place.data(), place.size() + end + 1);
}

Value reason(std::string_view arguments) {
    constexpr std::string_view words = " reason: ";
    if (const auto at = arguments.rfind(words); at != std::string_view::npos) {
        return {base::trim(arguments.substr(at + words.size()))};
    }
    const auto number = argument(arguments, "reason=");
    return number.empty() ? not_seen : Value{number};
}

}  // namespace

SkbDrops::SkbDrops()
    : TraceDialect("skb:kfree_skb", 1,
                   make_header("kfree_skb", {{"drop",
                                              0,
                                              {{"time", FieldType::time},
                                               {"comm", FieldType::text},
                                               {"tid", FieldType::integer},
                                               {"cpu", FieldType::integer},
                                               {"location", FieldType::place},
                                               {"reason", FieldType::reason_name},
                                               {"count", FieldType::count}}}})) {}

bool SkbDrops::line(std::string_view line, Sink& sink) {
    if (begun() && is_stack_line(line)) return true;
    const auto event = read_kernel_event(line);
    if (!event || event->name != "kfree_skb") return false;
    const auto place = location(event->arguments);
    if (place.empty()) return false;
    values_ = {event->time, event->comm, event->tid, event->cpu, Value{place}, reason(event->arguments), Value{"1", 1}};
    ++reported_;
    send(sink, Record{&schema(), values_});
    return true;
}

void SkbDrops::finished(Sink& sink) {
    const auto seen = base::saturating_add(reported_, lost());
    const std::array counts{Count{"seen", seen}, Count{"reported", reported_}, Count{"lost.trace buffer", lost()}};
    send(sink, End{unknown_time, std::span(counts).first(lost() > 0 ? 3 : 2)});
}

}  // namespace stapgen::decode
