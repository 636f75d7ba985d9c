#include "decode/net_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace stapgen::decode {

namespace {

constexpr std::array other_events{std::string_view("consume_skb"), std::string_view("napi_poll"),
                                  std::string_view("net_dev_xmit_timeout")};
constexpr std::array other_families{std::string_view("netif_rx"), std::string_view("netif_receive_skb_"),
                                    std::string_view("napi_gro_"), std::string_view("irq_handler_"),
                                    std::string_view("softirq_")};

bool is_other(std::string_view name) {
    return std::ranges::find(other_events, name) != other_events.end() || base::starts_with_any(name, other_families);
}

Value stage_between(std::int64_t from_ns, std::int64_t to_ns) {
    if (from_ns < 0 || to_ns < from_ns) return not_seen;
    return {{}, to_ns - from_ns};
}

}  // namespace

NetEvents::NetEvents()
    : LineDialect("net events", 1,
                  make_header("net-events", {{"packet",
                                              0,
                                              {{"time", FieldType::time},
                                               {"way", FieldType::text},
                                               {"dev", FieldType::text},
                                               {"comm", FieldType::text},
                                               {"tid", FieldType::integer},
                                               {"cpu", FieldType::integer},
                                               {"qdisc", FieldType::stage},
                                               {"driver", FieldType::stage},
                                               {"drv-app", FieldType::stage}}}})) {}

bool NetEvents::line(std::string_view line, Sink& sink) {
    if (begun() && between_.take(line)) return true;
    const auto event = read_kernel_event(line);
    if (!event) return false;
    if (use(*event, sink)) {
        begin(sink);
        return true;
    }
    return is_other(event->name);
}

bool NetEvents::use(const KernelEvent& event, Sink& sink) {
    enum { queue, start, sent, receive, copy } what = queue;
    if (event.name == "net_dev_queue") {
        what = queue;
    } else if (event.name == "net_dev_start_xmit") {
        what = start;
    } else if (event.name == "net_dev_xmit") {
        what = sent;
    } else if (event.name == "netif_receive_skb") {
        what = receive;
    } else if (event.name == "skb_copy_datagram_iovec") {
        what = copy;
    } else {
        return false;
    }
    const auto address = hexadecimal(argument(event.arguments, "skbaddr="));
    if (!address) return false;
    if (what == queue) {
        ++queued_;
        if (sending_.put(*address, event.time.number, argument(event.arguments, "dev="))) ++pushed_out_;
    } else if (what == receive) {
        ++received_;
        receiving_.put(*address, event.time.number, argument(event.arguments, "dev="));
    } else if (what == copy) {
        if (auto* entry = receiving_.find(*address)) read(event, *entry, sink);
    } else if (auto* entry = sending_.find(*address); what == start) {
        sees_start_ = true;
        if (entry != nullptr) entry->second_ns = event.time.number;
    } else if (entry != nullptr) {
        // rc: 0 is sent, another one stays in the queue.
        if (argument(event.arguments, "rc=") == "0") {
            left(event, *entry, sink);
        } else {
            entry->second_ns = -1;
        }
    }
    return true;
}

void NetEvents::left(const KernelEvent& event, SkbTable::Entry& entry, Sink& sink) {
    const auto start = entry.second_ns, end = event.time.number;
    // The address of one that the driver has freed may be in the queue again before net_dev_xmit tells of it.
    if (sees_start_ && start < 0) return;
    values_ = {event.time,
               Value{"tx"},
               Value{entry.device()},
               event.comm,
               event.tid,
               event.cpu,
               stage_between(entry.first_ns, start < 0 ? end : start),
               stage_between(start, end),
               not_seen};
    ++reported_tx_;
    send(sink, Record{&schema(), values_});
    SkbTable::remove(entry);
}

void NetEvents::read(const KernelEvent& event, SkbTable::Entry& entry, Sink& sink) {
    values_ = {event.time, Value{"rx"}, Value{entry.device()},
               event.comm, event.tid,   event.cpu,
               not_seen,   not_seen,    stage_between(entry.first_ns, event.time.number)};
    ++reported_rx_;
    send(sink, Record{&schema(), values_});
    SkbTable::remove(entry);
}

void NetEvents::finished(Sink& sink) {
    const auto under_way = sending_.count();
    const std::array counts{Count{"seen", queued_ + reported_rx_}, Count{"reported", reported_tx_ + reported_rx_},
                            Count{"incomplete.not sent", under_way}, Count{"incomplete.pushed out", pushed_out_},
                            Count{"netif_receive_skb", received_}};
    send(sink, End{unknown_time, counts});
}

std::vector<std::string> NetEvents::notes() const {
    std::vector<std::string> notes;
    if (received_ > 0) notes.push_back(fmt::format("{} packets were received (netif_receive_skb)", received_));
    if (reported_tx_ > 0 && !sees_start_) {
        notes.emplace_back("net_dev_start_xmit was not traced: qdisc goes on until the driver has taken the packet");
    }
    for (auto& note : between_.notes())
        notes.push_back(std::move(note));
    return notes;
}

}  // namespace stapgen::decode
