#include "decode/skb_drops.h"

namespace stapgen::decode {

namespace {

/// The place may have a blank: "nf_hook_slow+0x3b/0xc0 [nf_tables]".
std::string_view location(const KernelEvent& event) {
    const auto place = event.argument("location");
    if (place.empty()) return place;
    const auto rest = event.arguments.substr(static_cast<std::size_t>(place.end() - event.arguments.begin()));
    if (!rest.starts_with(" [")) return place;
    const auto end = rest.find(']');
    return end == std::string_view::npos ? place : std::string_view(place.data(), place.size() + end + 1);
}

}  // namespace

SkbDrops::SkbDrops()
    : TraceImporter("skb:kfree_skb", 1,
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
    const auto place = location(*event);
    if (place.empty()) return false;
    values_ = {event->time,  event->comm, event->tid, event->cpu, Value{place}, reason_value(event->argument("reason")),
               Value{"1", 1}};
    ++reported_;
    send(sink, Record{&schema(), values_});
    return true;
}

void SkbDrops::finished(Sink& sink) {
    send_end(reported_, sink);
}

}  // namespace stapgen::decode
