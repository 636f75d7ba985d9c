// SPDX-License-Identifier: GPL-2.0-or-later

#include "base/saturate.h"
#include "base/text.h"
#include "decode/importers.h"
#include "decode/kernel_event.h"
#include "decode/skb_table.h"

namespace stapgen::decode {

namespace {

constexpr std::string_view other_events = "consume_skb napi_poll net_dev_xmit_timeout";
constexpr std::string_view other_families[]{"netif_rx", "netif_receive_skb_", "napi_gro_", "irq_handler_", "softirq_"};

bool is_other(std::string_view name) {
    return base::contains_word(other_events, name) || base::starts_with_any(name, other_families);
}

std::string_view device_of(const KernelEvent& event) {
    const auto device = event.argument("dev");
    return device.empty() ? event.argument("name") : device;  // perf trace has the fields' own names
}

Value stage_between(std::int64_t from_ns, std::int64_t to_ns) {
    if (from_ns < 0 || to_ns < from_ns) return not_seen;
    return {{}, to_ns - from_ns};
}

/// The events of the network in the output of perf script, perf trace and ftrace. A packet is followed by the address
/// of its skb:
///     tx  qdisc    from net_dev_queue to net_dev_start_xmit; where that was not traced, to net_dev_xmit
///         driver   from net_dev_start_xmit to net_dev_xmit
///         stacked  from net_dev_queue of the first device (a bond, a VLAN) to that of the one that sends; these two
///                  stages and the device's name are those of the latter
///     rx  drv-app  from netif_receive_skb to skb_copy_datagram_iovec
/// Other events of the groups net, napi and skb, and interrupts, are understood and not used. 3 MB of memory.
class NetEvents final : public TraceImporter {
  public:
    NetEvents()
        : TraceImporter("net events", 1, "net-events",
                        {"packet time:time way:text dev:text comm:text tid:int cpu:int stacked:stage qdisc:stage "
                         "driver:stage drv-app:stage"}) {}

    std::vector<Note> notes() const override {
        std::vector<Note> notes;
        add_count(notes, received_, "packets were received (netif_receive_skb)");
        if (reported_tx_ > 0 && !sees_start_) {
            notes.emplace_back("net_dev_start_xmit was not traced: qdisc includes the driver's transmit call");
        }
        for (auto& note : TraceImporter::notes())
            notes.push_back(std::move(note));
        return notes;
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        if (begun() && is_stack_line(line)) return true;
        const auto event = read_kernel_event(line);
        if (!event) return false;
        if (use(*event, sink)) {
            begin(sink);
            return true;
        }
        return is_other(event->name) && (event->time.seen || !event->argument("skbaddr").empty());
    }

    void finished(Sink& sink) override {
        const auto under_way = sending_.count();
        const std::array counts{Count{"seen", base::saturating_add(queued_ + not_queued_ + reported_rx_, lost())},
                                Count{"reported", reported_tx_ + reported_rx_},
                                Count{"incomplete.not sent", under_way},
                                Count{"incomplete.queue not seen", not_queued_},
                                Count{"incomplete.pushed out", pushed_out_},
                                Count{"netif_receive_skb", received_},
                                Count{"lost.trace buffer", lost()}};
        send(sink, End{unknown_time, std::span(counts).first(lost() > 0 ? counts.size() : counts.size() - 1)});
    }

    bool use(const KernelEvent& event, Sink& sink) {
        const bool is_queue = event.name == "net_dev_queue", is_start = event.name == "net_dev_start_xmit",
                   is_sent = event.name == "net_dev_xmit", is_received = event.name == "netif_receive_skb",
                   is_copy = event.name == "skb_copy_datagram_iovec";
        if (!is_queue && !is_start && !is_sent && !is_received && !is_copy) return false;
        const auto address = base::from_hex(event.argument("skbaddr"));
        if (!address || !event.time.seen) return false;
        if (is_queue) {
            queue(event, *address);
        } else if (is_received) {
            ++received_;
            receiving_.put(*address, event.time.number, device_of(event));
        } else if (is_copy) {
            if (auto* entry = receiving_.find(*address)) read(event, *entry, sink);
        } else if (auto* entry = sending_.find(*address); is_start) {
            sees_start_ = true;
            if (entry != nullptr) entry->second_ns = event.time.number;
        } else {
            sent(event, entry, sink);
        }
        return true;
    }

    void queue(const KernelEvent& event, std::uint64_t address) {
        const auto device = device_of(event);
        auto* entry = sending_.find(address);
        if (entry != nullptr && !entry->gone && entry->device() != device) {
            if (entry->stacked_ns < 0) entry->stacked_ns = entry->first_ns;
            ++entry->above;
            entry->first_ns = event.time.number;
            entry->second_ns = -1;
            entry->set_device(device);
            return;
        }
        ++queued_;
        if (sending_.put(address, event.time.number, device)) ++pushed_out_;
    }

    void sent(const KernelEvent& event, SkbTable::Entry* entry, Sink& sink) {
        // rc: 0 is sent, another one stays in the queue.
        const auto rc = event.argument("rc");
        const bool is_sent = rc == "0" || (rc.empty() && event.zeros_left_out);
        if (entry == nullptr) {
            not_queued_ += is_sent ? 1 : 0;
        } else if (entry->gone) {
            if (--entry->above == 0) SkbTable::remove(*entry);
        } else if (is_sent) {
            left(event, *entry, sink);
        } else {
            entry->second_ns = -1;
        }
    }

    void left(const KernelEvent& event, SkbTable::Entry& entry, Sink& sink) {
        const auto start = entry.second_ns, end = event.time.number;
        // The address of one that the driver has freed may be in the queue again before net_dev_xmit is printed.
        if (sees_start_ && start < 0) return;
        ++reported_tx_;
        send_packet(event, "tx", entry,
                    {stage_between(entry.stacked_ns, entry.first_ns),
                     stage_between(entry.first_ns, start < 0 ? end : start), stage_between(start, end), not_seen},
                    sink);
        if (entry.above > 0) {
            entry.gone = true;
        } else {
            SkbTable::remove(entry);
        }
    }

    void read(const KernelEvent& event, SkbTable::Entry& entry, Sink& sink) {
        ++reported_rx_;
        send_packet(event, "rx", entry,
                    {not_seen, not_seen, not_seen, stage_between(entry.first_ns, event.time.number)}, sink);
        SkbTable::remove(entry);
    }

    void send_packet(const KernelEvent& event, std::string_view direction, const SkbTable::Entry& entry,
                     const std::array<Value, 4>& stages, Sink& sink) {
        const std::array values{
            event.time, Value{direction}, Value{entry.device()}, event.comm, event.tid, event.cpu, stages[0], stages[1],
            stages[2],  stages[3]};
        send(sink, Record{&schema(), values});
    }

    SkbTable sending_, receiving_;
    bool sees_start_ = false;
    std::int64_t queued_ = 0, received_ = 0, reported_tx_ = 0, reported_rx_ = 0, pushed_out_ = 0, not_queued_ = 0;
};

}  // namespace

const MakeImporter make_net_events = make_importer<NetEvents>;

}  // namespace stapgen::decode
