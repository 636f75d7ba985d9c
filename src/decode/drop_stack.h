#pragma once

#include <string>
#include <string_view>

namespace stapgen::decode {

/// Whether a function of the kernel frees dropped packets: kfree_skb and its kin, tcp_drop. __kfree_skb does not:
/// packets that were received end there, too.
bool drops_packets(std::string_view function);

/// The place of a drop, from the calls that led to it as tools of BPF print them: a line each, the innermost first.
///     tcp_v4_rcv+0x9b8            bcc; with Python 3 in front of it b'tcp_v4_rcv+0x9b8'
///     tcp_v4_rcv+2488             bpftrace, decimal
///     vxlan_xmit[vxlan]           pwru
///     0xffffffff8149a8ed, [unknown]
class DropStack {
  public:
    /// False: the line is no call, and nothing has changed.
    bool add(std::string_view line);

    /// Whether a function that drops was called by the place, or by nothing that was added so far.
    [[nodiscard]] bool drops() const { return drops_; }
    /// The innermost call that is neither of a function that drops nor of what traces it: "tcp_v4_rcv+0x9b8",
    /// "vxlan_xmit [vxlan]". Empty as long as there is none.
    [[nodiscard]] const std::string& place() const { return place_; }

  private:
    std::string place_;
    bool drops_ = false;
};

}  // namespace stapgen::decode
