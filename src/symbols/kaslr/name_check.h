// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// An address with the name that the log gives it: "skb_queue_purge+0x18 (0xffffffff81572ec8)".
struct NamedAddress {
    std::uint64_t address = 0;
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  ///< of the function, in bytes; 0: not said
    bool has_offset = true;  ///< false: it says that a return address is in that function, not where
};

/// Names that a log has beside addresses, compared with a table of symbols. A function that the table does not have
/// counts as neither.
struct NameCheck {
    std::optional<std::int64_t> kaslr_offset;  ///< under which most agree; nothing where none does
    std::size_t agreeing = 0;
    std::size_t exact = 0;          ///< those of them that have an offset
    std::size_t contradicting = 0;  ///< their functions are in the table, at other addresses
    std::string contradiction;      ///< the first: "skb_queue_purge+0x18 is 0x... in the log and 0x... in the table"
    /// The first that agrees whose function is of another length: "tcp_ack() has 0x1a2 bytes in the log, ...".
    std::string other_size;
};

/// `KASLR offset`: the only one that can be; nothing: it is looked for.
NameCheck check_names(std::span<const NamedAddress> named, const SymbolTable& table,
                      std::optional<std::int64_t> kaslr_offset);

/// The named addresses in a text of whole lines: an address with its name behind it ("[<ffffffff81572ec8>]
/// skb_queue_purge+0x18/0x30", "ffffffff81572ec8 skb_queue_purge+0x18 ([kernel.kallsyms])") or before it, in
/// parentheses, or as crash has it ("#0 [ffff880023f6bd50] skb_queue_purge at ffffffff81572ec8"). Those of modules are
/// left out.
std::vector<NamedAddress> find_named_addresses(std::string_view text, int digits = 16);

}  // namespace stapgen::symbols
