// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/files/kernel_image.h"
#include "symbols/files/module_file.h"
#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// A symbol table and the file it is from.
struct TableFile {
    SymbolTable table;
    std::filesystem::path file;
};

/// The files that names are taken from, by what is in them.
struct SourceFiles {
    std::optional<TableFile> map;   ///< addresses of the link: System.map, kallsyms of a kernel that was not moved
    std::optional<TableFile> boot;  ///< addresses of one boot: a copy of /proc/kallsyms with modules, or moved by KASLR
    std::optional<KernelImage> image;
    std::filesystem::path image_file;
    std::vector<ModuleFile> modules;
    std::vector<std::filesystem::path> module_folders;
};

/// Reads them all. Errors (bad_input), each with its remedy: one cannot be read, or is of no kind that is known; two
/// are of the same kind.
base::Result<SourceFiles> read_source_files(const std::vector<std::filesystem::path>& files);

/// Functions of Linux 2.6.18 to 7.2, global and static ones, sorted.
inline constexpr std::array<std::string_view, 16> of_each_kernel{
    "arp_process",       "do_exit",  "filp_close",         "free_netdev",  "kfree",           "kthread",
    "netif_receive_skb", "panic",    "register_netdevice", "schedule",     "sock_def_wakeup", "tcp_ack",
    "tcp_data_queue",    "vfs_read", "wake_up_process",    "worker_thread"};

/// In the names of dozens of functions of each of them.
inline constexpr std::array<std::string_view, 8> in_each_kernel{"tcp_",  "udp_",  "ip_",  "skb_",
                                                                "sock_", "inet_", "dev_", "net_"};

/// Error (bad_input): the table is an excerpt (grep, grep -v, head) and not whole: it lacks functions that each kernel
/// with IPv4 has. Addresses in its gaps would get a neighbour's name. A table of few functions, or of a short stretch
/// of code, is a deliberate excerpt. `origin` is the name of the file.
base::Result<void> expect_whole(const SymbolTable& table, std::string_view origin);

}  // namespace stapgen::symbols
