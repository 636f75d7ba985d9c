// SPDX-License-Identifier: GPL-2.0-or-later
#include "filter/libpcap.h"

#include <pcap/pcap.h>

#include <array>
#include <memory>

#include "base/saturate.h"

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

tl::expected<CaptureFile, std::string> CaptureFile::open(const std::filesystem::path& file) {
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    auto* handle = ::pcap_open_offline_with_tstamp_precision(file.c_str(), PCAP_TSTAMP_PRECISION_NANO, error.data());
    if (handle == nullptr) return tl::make_unexpected(std::string(error.data()));
    return CaptureFile(handle);
}

int CaptureFile::link() const {
    return ::pcap_datalink(handle_.get());
}

tl::expected<std::optional<Frame>, std::string> CaptureFile::next() {
    constexpr std::int64_t ns_per_s = 1'000'000'000;
    pcap_pkthdr* header = nullptr;
    const unsigned char* bytes = nullptr;
    const int got = ::pcap_next_ex(handle_.get(), &header, &bytes);
    if (got == PCAP_ERROR) return tl::make_unexpected(std::string(::pcap_geterr(handle_.get())));
    if (got != 1) return std::nullopt;
    const auto whole_ns = base::saturating_multiply(header->ts.tv_sec, ns_per_s);
    return Frame{{bytes, header->caplen}, header->len, base::saturating_add(whole_ns, header->ts.tv_usec)};
}

void CaptureFile::Close::operator()(pcap* handle) const {
    ::pcap_close(handle);
}

}  // namespace stapgen::filter
