#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/kernel_event.h"
#include "decode/skb_table.h"
#include "decode/trace_importer.h"

namespace stapgen::decode {

/// The events of the network in the output of perf script, perf trace and ftrace. A packet is followed by the address
/// of its skb:
///     tx  qdisc    from net_dev_queue to net_dev_start_xmit; where that was not traced, to net_dev_xmit
///         driver   from net_dev_start_xmit to net_dev_xmit
///         stacked  from net_dev_queue of the first device (a bond, a VLAN) to that of the one that sends; these two
///                  stages and the device's name are those of the latter
///     rx  drv-app  from netif_receive_skb to skb_copy_datagram_iovec
/// Other events of the groups net, napi and skb, and interrupts, are understood and not used. 3 MB of memory.
class NetEvents : public TraceImporter {
  public:
    NetEvents();
    [[nodiscard]] std::vector<Note> notes() const override;

  private:
    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;
    bool use(const KernelEvent& event, Sink& sink);
    void queue(const KernelEvent& event, std::uint64_t address);
    void sent(const KernelEvent& event, SkbTable::Entry* entry, Sink& sink);
    void left(const KernelEvent& event, SkbTable::Entry& entry, Sink& sink);
    void read(const KernelEvent& event, SkbTable::Entry& entry, Sink& sink);

    SkbTable sending_, receiving_;
    std::array<Value, 10> values_;
    bool sees_start_ = false;
    std::int64_t queued_ = 0, received_ = 0, reported_tx_ = 0, reported_rx_ = 0, pushed_out_ = 0, not_queued_ = 0;
};

}  // namespace stapgen::decode
