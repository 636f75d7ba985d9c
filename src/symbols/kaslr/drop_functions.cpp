// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/drop_functions.h"

#include <algorithm>

#include "base/text.h"

namespace stapgen::symbols {

namespace {

/// They do what is now done by others: net/ of Linux 2.6.30 to 5.9.
constexpr std::string_view dropping_in_older_kernels =
    "__netif_receive_skb __udp_queue_rcv_skb br_dev_queue_push_xmit br_handle_frame dev_queue_xmit "
    "inet_csk_reset_xmit_timer ip_frag_queue ip_queue_xmit ip_rcv ipv6_rcv netif_receive_skb netif_rx "
    "skb_free_datagram skb_free_datagram_locked sock_queue_rcv_skb tcp_conn_request tcp_rcv_established "
    "unix_dgram_connect unix_stream_recvmsg";

}  // namespace

std::string_view source_name(std::string_view symbol) {
    return symbol.substr(0, symbol.find('.', 1));
}

DropFunctions::DropFunctions(const SymbolTable& table, std::span<const std::string_view> sorted_names) {
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto [start, symbol] = table.function(i);
        if (symbol.module || symbol.init_text) continue;
        if (!std::ranges::binary_search(sorted_names, source_name(symbol.name))) continue;
        ranges_.push_back({start, start + symbol.size});
    }
}

bool DropFunctions::contains(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
    return after != ranges_.begin() && address < (after - 1)->end;
}

bool DropFunctions::may_contain(std::uint64_t address, std::string_view symbol) const {
    return contains(address) || base::contains_word(dropping_in_older_kernels, source_name(symbol));
}

}  // namespace stapgen::symbols
