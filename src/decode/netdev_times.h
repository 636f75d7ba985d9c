#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/line_importer.h"

namespace stapgen::decode {

/// What `perf script netdev-times` prints: a tree for each NET_RX softirq, then a line for each packet sent.
///     313133.116852sec cpu=0
///       irq_entry(+0.000msec irq=24:eth4)
///              |
///       softirq_entry(+0.006msec)
///              |---netif_receive_skb(+0.010msec skb=f2d15900 len=100)
///              |            |
///              |      skb_copy_datagram_iovec(+0.039msec 10291:wget)
///       napi_poll_exit(+0.022msec eth4)
///
///        dev    len      Qdisc               netdevice             free
///       eth4    74 313136.986751sec        0.005msec             0.097msec
class NetdevTimes : public LineImporter {
  public:
    NetdevTimes();
    [[nodiscard]] std::vector<Note> notes() const override;

  private:
    bool line(std::string_view line, Sink& sink) override;
    void finished(Sink& sink) override;
    bool hunk(std::string_view line, Sink& sink);
    bool tree(std::string_view text, Sink& sink);
    bool branch(std::string_view text, Sink& sink);
    bool sent(std::string_view text, Sink& sink);
    bool status(std::string_view text, Sink& sink);
    /// The packet received last, without what came after it if nothing did.
    void close_packet(Sink& sink, const Value& comm = not_seen, const Value& pid = not_seen,
                      const Value& to_app = not_seen);
    void drop(Sink& sink, std::string_view place, std::int64_t after_ns);

    std::array<Value, 10> values_;
    bool in_hunk_ = false, in_packet_ = false;
    std::int64_t base_ns_ = 0, softirq_ns_ = -1, receive_ns_ = 0;  ///< the latter two since the first
    std::int64_t reported_ = 0, lost_ = 0;
};

}  // namespace stapgen::decode
