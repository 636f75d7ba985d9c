// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "table/keys.h"

namespace stapgen::decode {

/// A place in the kernel as tools print it.
struct PrintedPlace : table::Place {
    bool hashed = false;   ///< the upper half of the 64-bit address is 0: a pointer hashed by %p
    bool refused = false;  ///< it had an address and a name that no code has: see base::can_be_code()
};

/// "0xffffffff8149a8ed", "ffffffff8149a8ed", "tcp_v4_rcv", "nf_hook_slow+0x3b/0xc0 [nf_tables]", "icmp_rcv+12d
/// (0xffffffff8176ac9d)", "nf_hook_slow+0x3b/0xc0 [nf_tables] (0xffffffffc0ff1234)". What is none of these is taken for
/// a symbol's name. Additions after it ("#2", "[ns: 4026531840]", half an address) is passed over.
PrintedPlace parse_place(std::string_view text);

/// "0xffffffff8149a8ed": eight digits at least.
bool is_address(std::string_view text);

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
    /// Lines that may be calls are missing here: "...", "[snip]", "(16 more frames)".
    void cut() { is_cut_ = true; }

    /// Whether a function that drops was called by the place, or by nothing that was added so far.
    [[nodiscard]] bool drops() const { return drops_; }
    /// The innermost call that is neither of a function that drops nor of what traces it: "tcp_v4_rcv+0x9b8",
    /// "vxlan_xmit [vxlan]". Empty as long as there is none, and where calls before it are missing.
    [[nodiscard]] const std::string& place() const { return place_; }
    /// There are calls, and the place may be among those that are missing.
    [[nodiscard]] bool lacks_place() const { return is_cut_ && has_calls_ && place_.empty(); }

  private:
    std::string place_;
    bool drops_ = false, is_cut_ = false, has_calls_ = false, has_offsets_ = false;
};

}  // namespace stapgen::decode
