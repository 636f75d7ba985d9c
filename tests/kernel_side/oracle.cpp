// SPDX-License-Identifier: GPL-2.0-or-later
#include "oracle.h"

#include <pcap/pcap.h>

#include <map>
#include <memory>
#include <stdexcept>

std::vector<std::uint64_t> words_of(const std::vector<Instruction>& program) {
    std::vector<std::uint64_t> words;
    for (const auto& [code, jump_true, jump_false, k] : program) {
        words.push_back(std::uint64_t{1} << 63 | std::uint64_t{code} << 48 | std::uint64_t{jump_true} << 40 |
                        std::uint64_t{jump_false} << 32 | k);
    }
    return words;
}

bool oracle_passes(const std::vector<Instruction>& program, const std::vector<std::uint8_t>& frame) {
    std::vector<bpf_insn> instructions;
    for (const auto& [code, jump_true, jump_false, k] : program)
        instructions.push_back({code, jump_true, jump_false, k});
    if (bpf_validate(instructions.data(), static_cast<int>(instructions.size())) == 0)
        throw std::runtime_error("libpcap does not take this program");
    const auto size = static_cast<u_int>(frame.size());
    return bpf_filter(instructions.data(), frame.data(), size, size) != 0;
}

bool oracle_passes(const std::string& expression, const std::vector<std::uint8_t>& frame) {
    struct Program : bpf_program {
        explicit Program(const std::string& text) {
            const std::unique_ptr<pcap_t, void (*)(pcap_t*)> handle(pcap_open_dead(DLT_EN10MB, 262144), pcap_close);
            if (pcap_compile(handle.get(), this, text.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
                throw std::runtime_error(text + ": " + pcap_geterr(handle.get()));
        }
        ~Program() { pcap_freecode(this); }
    };
    static std::map<std::string, std::unique_ptr<Program>> programs;
    auto& program = programs[expression];
    if (!program) program = std::make_unique<Program>(expression);
    pcap_pkthdr header{};
    header.caplen = header.len = static_cast<bpf_u_int32>(frame.size());
    return pcap_offline_filter(program.get(), &header, frame.data()) != 0;
}
