// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/drop_sites.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/text.h"

namespace stapgen::symbols {

namespace {

using Bytes = std::span<const std::byte>;

unsigned byte_at(Bytes bytes, std::size_t index) {
    return std::to_integer<unsigned>(bytes[index]);
}

std::uint32_t word_at(Bytes bytes, std::size_t index) {
    return byte_at(bytes, index) | byte_at(bytes, index + 1) << 8U | byte_at(bytes, index + 2) << 16U |
           byte_at(bytes, index + 3) << 24U;
}

/// A number of `bits` bits with its sign, as an amount to add to an address.
std::uint64_t signed_offset(std::uint32_t value, int bits) {
    const auto shift = static_cast<unsigned>(64 - bits);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift);
}

/// Calls `seen` with each reference in the code, whatever it points to.
/// Opcodes: Intel 64 Architectures Software Developer's Manual, volume 2 (CALL E8, JMP E9, Jcc 0F 80 to 0F 8F, each
/// with a 32-bit offset); Arm Architecture Reference Manual (B, BL: 26 bits, in words).
template <class Seen>
void references_of(const CodeRange& range, Architecture architecture, Seen seen) {
    const auto bytes = range.bytes;
    if (architecture == Architecture::x86_64) {
        for (std::size_t i = 0; i + 5 <= bytes.size(); ++i) {
            const auto opcode = byte_at(bytes, i);
            const bool conditional = (opcode & 0xf0U) == 0x80 && i > 0 && byte_at(bytes, i - 1) == 0x0f;
            if (opcode != 0xe8 && opcode != 0xe9 && !conditional) continue;
            const auto next = range.address + i + 5;
            seen(CodeReference{next + signed_offset(word_at(bytes, i + 1), 32), next, opcode != 0xe8});
        }
    } else if (architecture == Architecture::arm64) {
        for (std::size_t i = (4 - range.address % 4) % 4; i + 4 <= bytes.size(); i += 4) {
            const auto word = word_at(bytes, i);
            if ((word & 0x7c000000U) != 0x14000000U) continue;
            const auto here = range.address + i;
            seen(CodeReference{here + signed_offset(word & 0x03ffffffU, 26) * 4, here + 4, (word & 0x80000000U) == 0});
        }
    }
}

/// How long a `call` through a register or through memory is that begins with ff at `i`; 0 if it is none.
std::size_t length_of_pointer_call(Bytes bytes, std::size_t i) {
    if (i + 2 > bytes.size() || byte_at(bytes, i) != 0xff) return 0;
    const auto modrm = byte_at(bytes, i + 1);
    if ((modrm >> 3U & 7U) != 2) return 0;
    const auto mode = modrm >> 6U;
    const auto base = modrm & 7U;
    if (mode == 3) return 2;
    const std::size_t sib = base == 4 ? 1 : 0;
    if (mode == 1) return 3 + sib;
    if (mode == 2) return 6 + sib;
    if (base == 5) return 6;
    return 2 + sib;
}

/// They give the tracepoint their own return address: net/core/skbuff.c of Linux up to 5.16; up to 6.10; later. Others
/// (kfree_skb_list_reason of 6.4 and later) are found by their call of the tracepoint.
constexpr std::array<std::string_view, 3> free_as_dropped{"kfree_skb", "kfree_skb_reason", "sk_skb_reason_drop"};

/// What a tracepoint's caller calls: arch/x86 since 5.10 (a static call); elsewhere since 5.10.
constexpr std::array<std::string_view, 2> tracepoint_calls{"__SCT__tp_func_kfree_skb", "__traceiter_kfree_skb"};

/// They give the tracepoint their own address: net/core/dev.c; net/ipv4/udp.c and net/ipv6/udp.c of older kernels.
constexpr std::array<std::string_view, 3> own_address{"net_tx_action", "udp_recvmsg", "udpv6_recvmsg"};

/// They call protocols, devices, hooks and neighbours through pointers, so that a function which ends in a jump to
/// kfree_skb() leaves a place in them as `location`. From net/ of Linux 5.10 to 7.2; sorted.
constexpr std::string_view passing_on_by_pointer =
    "__dev_direct_xmit __dev_queue_xmit __ip6_local_out __ip_local_out __netif_receive_skb_core "
    "__netif_receive_skb_list_core __netif_receive_skb_list_ptype __netif_receive_skb_one_core __qdisc_run "
    "__release_sock __sk_backlog_rcv __sk_receive_skb dev_hard_start_xmit dev_loopback_xmit dev_qdisc_enqueue "
    "dev_queue_xmit_nit dst_output generic_xdp_tx ip6_finish_output ip6_finish_output2 ip6_forward ip6_forward_finish "
    "ip6_input_finish ip6_list_rcv_finish ip6_local_out ip6_mc_input ip6_mr_forward ip6_output "
    "ip6_protocol_deliver_rcu ip6_rcv_finish ip6_send_skb ip6_sublist_rcv_finish ip6_xmit ip_build_and_send_pkt "
    "ip_finish_output ip_finish_output2 ip_forward ip_forward_finish ip_list_rcv_finish ip_local_deliver_finish "
    "ip_local_out ip_mc_output ip_mr_forward ip_output ip_protocol_deliver_rcu ip_push_pending_frames ip_rcv_finish "
    "ip_send_skb ip_sublist_rcv_finish ipv6_rthdr_rcv kauditd_send_queue lwtunnel_input lwtunnel_output lwtunnel_xmit "
    "neigh_invalidate neigh_proxy_process neigh_resolve_output neigh_timer_handler netdev_start_xmit "
    "netif_receive_generic_xdp netlink_unicast nf_hook_slow nf_hook_slow_list nf_queue nf_reinject pfifo_fast_destroy "
    "release_sock sch_direct_xmit sk_backlog_rcv tcp_child_process tcp_v4_do_rcv tcp_v6_do_rcv udp_queue_rcv_one_skb "
    "udpv6_queue_rcv_one_skb xfrm_input xfrm_local_error xfrm_output_resume xfrm_trans_reinject xmit_one";

/// They do what is now done by others: net/ of Linux 2.6.30 to 5.9.
constexpr std::string_view dropping_in_older_kernels =
    "__netif_receive_skb __udp_queue_rcv_skb br_dev_queue_push_xmit br_handle_frame dev_queue_xmit "
    "inet_csk_reset_xmit_timer ip_frag_queue ip_queue_xmit ip_rcv ipv6_rcv netif_receive_skb netif_rx "
    "skb_free_datagram skb_free_datagram_locked sock_queue_rcv_skb tcp_conn_request tcp_rcv_established "
    "unix_dgram_connect unix_stream_recvmsg";

constexpr std::string_view cold = ".cold";

class SiteFinder {
  public:
    SiteFinder(std::span<const CodeRange> code, Architecture architecture, const SymbolTable& table)
        : code_(code),
          architecture_(architecture),
          table_(table),
          references_(find_references(code, architecture, table)) {}

    std::vector<std::uint64_t> find() {
        for (const auto name : free_as_dropped)
            add_targets(name);
        for (const auto name : tracepoint_calls) {
            for (const auto start : table_.addresses_of(name)) {
                for (const auto& reference : to(start)) {
                    if (!reference.jump) add_target(reference.next - 1);
                }
            }
        }
        while (!open_.empty()) {
            const auto target = open_.back();
            open_.pop_back();
            for (const auto& reference : to(target)) {
                if (reference.jump) {
                    add_target(reference.next - 1);
                } else {
                    sites_.push_back(reference.next);
                }
            }
        }
        for (const auto name : own_address) {
            const auto starts = table_.addresses_of(name);
            sites_.insert(sites_.end(), starts.begin(), starts.end());
        }
        add_calls_through_pointers();
        std::ranges::sort(sites_);
        sites_.erase(std::unique(sites_.begin(), sites_.end()), sites_.end());
        return std::move(sites_);
    }

  private:
    [[nodiscard]] std::span<const CodeReference> to(std::uint64_t target) const {
        const auto first = std::ranges::lower_bound(references_, target, {}, &CodeReference::target);
        return {first, std::ranges::upper_bound(references_, target, {}, &CodeReference::target)};
    }

    void add_targets(std::string_view name) {
        for (const auto start : table_.addresses_of(name)) {
            if (known_.insert(start).second) open_.push_back(start);
        }
    }

    /// The function that `address` lies in; for its unlikely part that the compiler put elsewhere, all of it.
    void add_target(std::uint64_t address) {
        const auto function = table_.find(address);
        if (!function || function->init_text || function->module) return;
        if (known_.insert(address - function->offset).second) open_.push_back(address - function->offset);
        if (function->name.ends_with(cold)) add_targets(function->name.substr(0, function->name.size() - cold.size()));
    }

    /// A function that ends in a jump may be called through a pointer, or be a module's.
    void add_calls_through_pointers() {
        const auto functions = DropSites::from_names(table_, base::words(passing_on_by_pointer));
        for (const auto& [begin, end] : functions.ranges()) {
            const auto calls = find_indirect_calls(code_, architecture_, table_, begin, end);
            sites_.insert(sites_.end(), calls.begin(), calls.end());
        }
    }

    std::span<const CodeRange> code_;
    Architecture architecture_;
    const SymbolTable& table_;
    std::vector<CodeReference> references_;
    std::vector<std::uint64_t> open_, sites_;
    std::unordered_set<std::uint64_t> known_;
};

}  // namespace

std::vector<CodeReference> find_references(std::span<const CodeRange> code, Architecture architecture,
                                           const SymbolTable& table) {
    std::vector<std::uint64_t> starts;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto function = table.function(i);
        if (!function.symbol.module && !function.symbol.init_text) starts.push_back(function.start);
    }
    std::vector<CodeReference> references;
    for (const auto& range : code) {
        if (range.init || starts.empty()) continue;
        references_of(range, architecture, [&](const CodeReference& reference) {
            if (reference.target < starts.front() || reference.target > starts.back()) return;
            if (std::ranges::binary_search(starts, reference.target)) references.push_back(reference);
        });
    }
    std::ranges::sort(references, [](const CodeReference& a, const CodeReference& b) {
        return a.target != b.target ? a.target < b.target : a.next < b.next;
    });
    return references;
}

std::vector<std::uint64_t> find_indirect_calls(std::span<const CodeRange> code, Architecture architecture,
                                               const SymbolTable& table, std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> found;
    for (const auto& whole : code) {
        const auto whole_end = whole.address + whole.bytes.size();
        const auto first = std::max(begin, whole.address);
        const auto last = std::min(end, whole_end);
        if (first >= last) continue;
        const CodeRange range{first, whole.bytes.subspan(first - whole.address, last - first), whole.init};
        if (architecture == Architecture::arm64) {
            for (std::size_t i = (4 - first % 4) % 4; i + 4 <= range.bytes.size(); i += 4) {
                const bool blr = (word_at(range.bytes, i) & 0xfffffc1fU) == 0xd63f0000U;
                const bool blr_signed = (word_at(range.bytes, i) & 0xfefff800U) == 0xd63f0800U;  // blraa, blrab, ...
                if (blr || blr_signed) found.push_back(first + i + 4);
            }
            continue;
        }
        references_of(range, architecture, [&](const CodeReference& reference) {
            if (reference.jump) return;
            const auto target = table.find(reference.target);
            if (!target || target->name.find("__x86_indirect_") == std::string_view::npos) return;
            found.insert(found.end(), {reference.next - 3, reference.next - 2, reference.next});
        });
        for (std::size_t i = 0; architecture == Architecture::x86_64 && i < range.bytes.size(); ++i) {
            if (const auto length = length_of_pointer_call(range.bytes, i); length != 0) {
                found.push_back(first + i + length);
            }
        }
    }
    std::ranges::sort(found);
    return found;
}

std::string_view source_name(std::string_view symbol) {
    return symbol.substr(0, symbol.find('.', 1));
}

DropSites DropSites::from_code(std::span<const CodeRange> code, Architecture architecture, const SymbolTable& table) {
    DropSites sites;
    sites.exact_ = true;
    for (const auto site : SiteFinder(code, architecture, table).find())
        sites.ranges_.push_back({site, site + 1});
    return sites;
}

DropSites DropSites::from_names(const SymbolTable& table, std::span<const std::string_view> sorted_names) {
    DropSites sites;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto [start, symbol] = table.function(i);
        if (symbol.module || symbol.init_text) continue;
        const auto name = source_name(symbol.name);
        if (!std::ranges::binary_search(sorted_names, name)) continue;
        sites.ranges_.push_back({start, start + symbol.size});
    }
    return sites;
}

bool DropSites::contains(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
    return after != ranges_.begin() && address < (after - 1)->end;
}

bool DropSites::may_contain(std::uint64_t address, std::string_view symbol) const {
    return contains(address) || (!exact_ && base::contains_word(dropping_in_older_kernels, source_name(symbol)));
}

}  // namespace stapgen::symbols
