// SPDX-License-Identifier: GPL-2.0-or-later
#include "filter/libpcap.h"

#include <pcap/pcap.h>

#include <memory>

// libpcap is linked statically, as the program is carried to other machines. Debian's can also capture from D-Bus,
// whose library would come with it: these stand in for that part.
extern "C" {
int dbus_create() {
    return 0;
}
int dbus_findalldevs() {
    return 0;
}
}

namespace stapgen::filter {

tl::expected<std::vector<Instruction>, std::string> libpcap_compile(const std::string& expression, bool optimize) {
    constexpr int snapshot_length = 262144;
    const std::unique_ptr<pcap_t, void (*)(pcap_t*)> handle(::pcap_open_dead(DLT_EN10MB, snapshot_length),
                                                            ::pcap_close);
    if (!handle) return tl::make_unexpected(std::string("libpcap: no memory"));
    bpf_program program{};
    if (::pcap_compile(handle.get(), &program, expression.c_str(), optimize ? 1 : 0, PCAP_NETMASK_UNKNOWN) != 0)
        return tl::make_unexpected(std::string(::pcap_geterr(handle.get())));
    std::vector<Instruction> instructions;
    for (u_int i = 0; i < program.bf_len; ++i) {
        const auto& of = program.bf_insns[i];
        instructions.push_back({of.code, of.jt, of.jf, of.k});
    }
    ::pcap_freecode(&program);
    return instructions;
}

}  // namespace stapgen::filter
