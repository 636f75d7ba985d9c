#pragma once

#include <array>
#include <string_view>

#include "base/result.h"
#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// Of Linux 2.6.18 to 7.2, global and static ones, sorted.
inline constexpr std::array<std::string_view, 16> of_each_kernel{
    "arp_process",       "do_exit",  "filp_close",         "free_netdev",  "kfree",           "kthread",
    "netif_receive_skb", "panic",    "register_netdevice", "schedule",     "sock_def_wakeup", "tcp_ack",
    "tcp_data_queue",    "vfs_read", "wake_up_process",    "worker_thread"};

/// Error (bad_input): the table is an excerpt (grep, head) and not whole: it lacks functions that each kernel with IPv4
/// has. Addresses in its gaps would get a neighbour's name. A table of few functions, or of a short stretch of code, is
/// what somebody has made on purpose. `origin` is the name of the file.
base::Result<void> expect_whole(const SymbolTable& table, std::string_view origin);

}  // namespace stapgen::symbols
