#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stapgen::decode {

/// A place in the kernel as tools print it.
struct Place {
    std::optional<std::uint64_t> address;
    std::optional<std::string> symbol;
    std::optional<std::uint64_t> offset;
    std::optional<std::string> module;
    bool hashed = false;   ///< the address is 64 bits wide of which the upper half is 0: a pointer that %p has hashed
    bool refused = false;  ///< it had an address and a name that no code has: see base::can_be_code()
};

/// "0xffffffff8149a8ed", "ffffffff8149a8ed", "tcp_v4_rcv", "nf_hook_slow+0x3b/0xc0 [nf_tables]", "icmp_rcv+12d
/// (0xffffffff8176ac9d)", "nf_hook_slow+0x3b/0xc0 [nf_tables] (0xffffffffc0ff1234)". What is none of these is taken for
/// a symbol's name. What somebody has put behind it ("#2", "[ns: 4026531840]", half an address) is passed over.
Place parse_place(std::string_view text);

}  // namespace stapgen::decode
