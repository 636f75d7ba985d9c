// SPDX-License-Identifier: GPL-2.0-or-later

#include "base/text.h"
#include "decode/importers.h"
#include "decode/kernel_event.h"

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

/// Whether the fields of an event are those that it has and no others, and its last one is there.
Importer::Shape arguments_shape(std::string_view arguments) {
    bool has_place = false, has_reason = false;
    std::string_view last;
    for (const auto word : base::words(arguments)) {
        const auto equals = word.find('=');
        const auto key = word.substr(0, equals == word.npos ? 0 : equals);
        const bool is_module = last.starts_with("location=") && word.starts_with('[') && word.ends_with(']');
        const bool is_field = base::contains_word("skbaddr rx_sk protocol location", key) &&
                              key.size() + 1 < word.size() && word.find('[') == word.npos;
        has_reason = last == "reason:" && word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == word.npos;
        if (!is_module && !is_field && !has_reason && word != "reason:") return Importer::Shape::begun;
        has_place |= word.starts_with("location=");
        last = word;
    }
    if (!has_place || last == "reason:") return Importer::Shape::begun;
    return has_reason ? Importer::Shape::whole : Importer::Shape::lacking;
}

/// The event skb:kfree_skb in the output of perf script, perf trace and ftrace (see KernelEvent), of all kernels:
///     skbaddr=0xffff8800c4574400 protocol=2048 location=0xffffffff8149a8ed                       2.6.30 to 5.16
///     skbaddr=ffff8881 protocol=2048 location=nf_hook_slow+0x3b/0xc0 [nf_tables] reason: NO_SOCKET      from 5.17
///     skbaddr=ffff8881 rx_sk=(nil) protocol=2048 location=tcp_v4_rcv+0x1f/0x90 reason: NO_SOCKET        from 6.11
///     skbaddr: 0xffff8881, location: 0xffffffff8149a8ed, protocol: 2048, reason: 3                  perf trace
///     [FAILED TO PARSE] skbaddr=0xffff8881 location=0xffffffff8149a8ed protocol=2048 reason=3     an old perf
/// Call chains below them are passed over. skb:consume_skb is no drop.
class SkbDrops final : public TraceImporter {
  public:
    SkbDrops()
        : TraceImporter("skb:kfree_skb", 1, "kfree_skb",
                        {"drop time:time comm:text tid:int cpu:int location:place reason:reason_name count:count"}) {}

    Shape shape(std::string_view line) const override {
        constexpr std::string_view name = "kfree_skb: ";
        const auto at = line.find(name);
        return at == line.npos ? Shape::other : arguments_shape(line.substr(at + name.size()));
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        if (begun() && is_stack_line(line)) return true;
        const auto event = read_kernel_event(line);
        if (!event || event->name != "kfree_skb") return false;
        const auto place = location(*event);
        if (place.empty() || event->arguments.ends_with(" reason:")) return false;
        values_ = {event->time,  event->comm,  event->tid,
                   event->cpu,   Value{place}, reason_value(event->argument("reason")),
                   Value{"1", 1}};
        report(Record{&schema(), values_}, sink);
        return true;
    }

    std::array<Value, 7> values_;
};

}  // namespace

const MakeImporter make_skb_drops = make_importer<SkbDrops>;

}  // namespace stapgen::decode
