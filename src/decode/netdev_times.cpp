// SPDX-License-Identifier: GPL-2.0-or-later

#include <algorithm>

#include "base/saturate.h"
#include "base/text.h"
#include "decode/importers.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

Value stage(std::int64_t ns) {
    return ns < 0 ? not_seen : Value{{}, ns};
}

/// "313133.116852sec", in ns.
bool read_moment(Scan& scan, std::int64_t& ns) {
    return scan.fixed_point(ns, 9) && ns >= 0 && scan.skip("sec");
}

/// The output of `perf script netdev-times`: a tree for each NET_RX softirq, then a line for each packet sent.
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
class NetdevTimes final : public Importer {
  public:
    NetdevTimes()
        : Importer("perf script netdev-times", 1000, "netdev-times",
                   {"packet time:time way:text dev:text comm:text pid:int irq-softirq:stage softirq-receive:stage "
                    "receive-app:stage qdisc:stage netdevice:stage",
                    "drop time:time location:place count:count"}) {}

    std::vector<Note> notes() const override {
        return {
            {"netdev-times shows only packets received after an interrupt and packets whose transmission completed"},
            {"netdev-times drops packets beyond 65536 in flight, and reports them only with its option debug"}};
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        auto text = base::trim(line);
        if (text.empty()) return begun();
        if (line[0] >= '0' && line[0] <= '9' && hunk(line, sink)) return true;
        if (in_hunk_ && tree(text, sink)) return true;
        return sent(text, sink) || status(text, sink);
    }

    void finished(Sink& sink) override {
        close_packet(sink);
        send_end(sink, "lost.overflow", lost_);
    }

    bool hunk(std::string_view line, Sink& sink) {
        Scan scan{line};
        std::int64_t base = 0, cpu = 0;
        if (!read_moment(scan, base) || !scan.skip(" cpu=") || !scan.count(cpu)) return false;
        close_packet(sink);
        begin(sink);
        in_hunk_ = true;
        base_ns_ = base;
        softirq_ns_ = -1;
        return true;
    }

    bool tree(std::string_view text, Sink& sink) {
        const bool in_branch = text[0] == '|';
        if (in_branch) {
            text = base::trim(text.substr(1));
            if (text.empty() || text == "|") return true;
        }
        const auto name = text.substr(0, text.find('('));
        Scan scan{text.substr(name.size())};
        std::int64_t ns = 0;
        const bool is_branch = name != "irq_entry" && name != "softirq_entry" && name != "napi_poll_exit";
        const bool has_offset = scan.skip("(+") && scan.fixed_point(ns, 6) && scan.skip("msec");
        if (is_branch != in_branch || !has_offset) return false;
        if (name == "irq_entry" || name == "---netif_rx") return true;
        if (name == "softirq_entry") {
            softirq_ns_ = ns;
            return true;
        }
        if (name == "skb_copy_datagram_iovec") {
            Value pid;
            if (!scan.skip(" ") || !scan.count(pid.number, pid.raw) || !scan.skip(":")) return false;
            if (scan.rest.ends_with(')')) scan.rest.remove_suffix(1);
            close_packet(sink, {scan.rest}, pid, stage(ns - receive_ns_));
            return true;
        }
        const bool is_receive = name == "---netif_receive_skb", is_drop = name == "kfree_skb";
        if (!is_receive && !is_drop && name != "consume_skb" && name != "napi_poll_exit") return false;
        if (is_drop && !scan.skip(" location=")) return false;
        close_packet(sink);
        in_packet_ = is_receive;
        if (is_receive) receive_ns_ = ns;
        if (is_drop) drop(sink, scan.rest.substr(0, scan.rest.find(')')), ns);
        return true;
    }

    bool sent(std::string_view text, Sink& sink) {
        if (text.starts_with("dev ") && text.ends_with(" free") && text.find(" Qdisc ") != std::string_view::npos) {
            close_packet(sink);
            begin(sink);
            in_hunk_ = false;
            return true;
        }
        const auto blank = std::min(text.find(' '), text.size());
        Scan scan{text.substr(blank)};
        std::int64_t length = 0, queued = 0, qdisc = 0, netdevice = 0;
        scan.blanks();
        if (!scan.count(length)) return false;
        scan.blanks();
        if (!read_moment(scan, queued)) return false;
        scan.blanks();
        if (!scan.fixed_point(qdisc, 6) || !scan.skip("msec")) return false;
        scan.blanks();
        if (!scan.fixed_point(netdevice, 6) || !scan.skip("msec")) return false;
        close_packet(sink);
        values_ = {Value{{}, queued}, Value{"tx"}, Value{text.substr(0, blank)},
                   not_seen,          not_seen,    not_seen,
                   not_seen,          not_seen,    stage(qdisc),
                   stage(netdevice)};
        report(Record{&schema(), values_}, sink);
        return true;
    }

    /// The lines that the option `debug` adds: how many packets were followed and given up.
    bool status(std::string_view text, Sink& sink) {
        if (text == "debug buffer status") {
            begin(sink);
            return true;
        }
        if (!begun()) return false;
        if (text == "----------------------------") return true;
        Scan scan{text};
        std::int64_t remain = 0, overflow = 0;
        if (!scan.skip("xmit Qdisc:remain:") && !scan.skip("xmit netdevice:remain:") && !scan.skip("receive:remain:"))
            return false;
        if (!scan.count(remain) || !scan.skip(" overflow:") || !scan.count(overflow)) return false;
        base::add_saturating(lost_, overflow);
        return true;
    }

    /// The packet received last, without what came after it if nothing did.
    void close_packet(Sink& sink, const Value& comm = not_seen, const Value& pid = not_seen,
                      const Value& to_app = not_seen) {
        if (!in_packet_) return;
        in_packet_ = false;
        const auto since_softirq = softirq_ns_ < 0 ? -1 : receive_ns_ - softirq_ns_;
        values_ = {Value{{}, base_ns_ + std::max<std::int64_t>(0, receive_ns_)},
                   Value{"rx"},
                   not_seen,
                   comm,
                   pid,
                   stage(softirq_ns_),
                   stage(since_softirq),
                   to_app,
                   not_seen,
                   not_seen};
        report(Record{&schema(), values_}, sink);
    }

    void drop(Sink& sink, std::string_view place, std::int64_t after_ns) {
        const std::array values{Value{{}, base_ns_ + std::max<std::int64_t>(0, after_ns)}, Value{place}, Value{"1", 1}};
        send(sink, Record{&schema(1), values});
    }

    std::array<Value, 10> values_;
    bool in_hunk_ = false, in_packet_ = false;
    std::int64_t base_ns_ = 0, softirq_ns_ = -1, receive_ns_ = 0;  ///< the latter two since the first
    std::int64_t lost_ = 0;
};

}  // namespace

const MakeImporter make_netdev_times = make_importer<NetdevTimes>;

}  // namespace stapgen::decode
