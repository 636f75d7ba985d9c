// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/symbol_table.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <set>
#include <string>

#include "base/files.h"
#include "symbols/kaslr/kaslr_offset.h"
#include "table_of.h"

using namespace stapgen;
using symbols::AddressKind;
using symbols::Lookup;
using symbols::SymbolTable;

namespace {

std::string at(const SymbolTable& table, std::uint64_t address, const Lookup& lookup = {}) {
    const auto symbol = table.find(address, lookup);
    return symbol ? to_string(*symbol) : "-";
}

constexpr Lookup as_return{AddressKind::return_address, 0};

const std::string seed =
    "ffffffff8149a420 t unix_dgram_poll\n"
    "ffffffff8149a5e0 t unix_stream_recvmsg\n"
    "ffffffff8149ad00 t unix_find_other\n";

const std::string small_kernel =
    "0000000000000000 D fixed_percpu_data\n"
    "0000000000000000 D __per_cpu_start\n"
    "000000000001f000 d percpu_thing\n"
    "0000000000020000 A an_absolute\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000010 T first\n"
    "ffffffff81000100 t second\n"
    "ffffffff81000800 T last\n"
    "ffffffff81001000 T _etext\n"
    "ffffffff82000000 D __start_rodata\n"
    "ffffffff82000100 T text_type_in_data\n"
    "ffffffff83000000 T _sinittext\n"
    "ffffffff83000010 t set_up\n"
    "ffffffff83000100 T _einittext\n"
    "ffffffff84000000 B __init_scratch_end\n";

std::string real_excerpt() {
    auto text = base::read_file(TEST_DATA "/kallsyms-6.12.117-excerpt");
    REQUIRE(text);
    return *text;
}

}  // namespace

TEST_CASE("the worked example of the dropwatch article comes out as printed there") {
    const auto table = table_of(seed);
    CHECK(at(table, 0xffffffff8149a8ed) == "unix_stream_recvmsg+0x30d/0x720");
    CHECK(at(table, 0xffffffff8149a8ed, as_return) == "unix_stream_recvmsg+0x30d/0x720");
}

TEST_CASE("a function reaches from its first byte to the byte before the next symbol") {
    const auto table = table_of(small_kernel);
    CHECK(at(table, 0xffffffff810000ff) == "first+0xef/0xf0");
    CHECK(at(table, 0xffffffff81000100) == "second+0x0/0x700");
    CHECK(at(table, 0xffffffff81000101) == "second+0x1/0x700");
    CHECK(at(table, 0xffffffff810007ff) == "second+0x6ff/0x700");
    CHECK(at(table, 0xffffffff81000800) == "last+0x0/0x800");
}

TEST_CASE("outside of text there is no name, not the nearest one") {
    const auto table = table_of(small_kernel);
    CHECK(at(table, 0) == "-");
    CHECK(at(table, 0x1f010) == "-");
    CHECK(at(table, 0xffffffff80ffffff) == "-");
    CHECK(at(table, 0xffffffff81000fff) == "last+0x7ff/0x800");
    CHECK(at(table, 0xffffffff81001000) == "-");
    CHECK(at(table, 0xffffffff82000100) == "-");
    CHECK(at(table, 0xffffffff83000100) == "-");
    CHECK(at(table, 0xffffffff84000000) == "-");
    CHECK(at(table, 0xffffffffffffffff) == "-");
}

TEST_CASE("a module's address against a System.map is unknown: no __init_scratch_end+37b6e440") {
    const auto table = table_of(small_kernel);
    CHECK(at(table, 0xffffffffc076e440) == "-");
    CHECK(at(table, 0xffffffffc076e440, as_return) == "-");
    CHECK_FALSE(table.has_modules());
}

TEST_CASE("code of the boot is named and marked") {
    const auto table = table_of(small_kernel);
    const auto symbol = table.find(0xffffffff83000020);
    REQUIRE(symbol);
    CHECK(symbol->init_text);
    CHECK(at(table, 0xffffffff83000020) == "set_up+0x10/0xf0 (init text)");
}

TEST_CASE("a return address behind a function's last call belongs to that function") {
    const auto table = table_of(small_kernel);
    CHECK(at(table, 0xffffffff81000100, as_return) == "first+0xf0/0xf0");
    CHECK(at(table, 0xffffffff81000101, as_return) == "second+0x1/0x700");
    CHECK(at(table, 0xffffffff81001000, as_return) == "last+0x800/0x800");
    CHECK(at(table, 0xffffffff81001001, as_return) == "-");
    CHECK(at(table, 0xffffffff81000000, as_return) == "-");
    CHECK(at(table, 0, as_return) == "-");
}

TEST_CASE("the order of the lines does not matter") {
    const auto table = table_of(
        "ffffffff81001000 T _etext\n"
        "ffffffff81000800 T last\n"
        "ffffffff81000010 T first\n"
        "ffffffff81000000 T _text\n"
        "ffffffff81000100 t second\n");
    CHECK(at(table, 0xffffffff81000011) == "first+0x1/0xf0");
    CHECK(at(table, 0xffffffff810007ff) == "second+0x6ff/0x700");
}

TEST_CASE("of several names at one address the kernel's own choice is taken") {
    const auto named = [](const std::string& names) {
        const auto table =
            table_of("ffffffff81000000 T _text\n" + names + "ffffffff81000020 T next\nffffffff81001000 T _etext\n");
        return at(table, 0xffffffff81000010);
    };
    SUBCASE("a weak name gives way to a strong one") {
        CHECK(named("ffffffff81000010 W weak_one\nffffffff81000010 T __strong\n") == "__strong+0x0/0x10");
    }
    SUBCASE("a name that the linker script gives goes behind") {
        CHECK(named("ffffffff81000010 T __entry_text_start\nffffffff81000010 T ___code\n") == "___code+0x0/0x10");
    }
    SUBCASE("fewer leading underscores win") {
        CHECK(named("ffffffff81000010 T __se_sys_read\nffffffff81000010 T _a\nffffffff81000010 t b\n") == "b+0x0/0x10");
    }
    SUBCASE("else the first in the text") {
        CHECK(named("ffffffff81000010 t zeta\nffffffff81000010 T alpha\n") == "zeta+0x0/0x10");
    }
    SUBCASE("data is no candidate") {
        CHECK(named("ffffffff81000010 d a\nffffffff81000010 T __code\n") == "__code+0x0/0x10");
    }
}

TEST_CASE("marks of toolchains and absolute symbols neither name nor end a function") {
    const auto table = table_of(
        "ffff800080000000 T _text\n"
        "ffff800080000010 T tcp_v4_rcv\n"
        "ffff800080000010 t $x\n"
        "ffff800080000018 t $d.12\n"
        "ffff80008000001c t .Ltmp3\n"
        "ffff800080000020 t __typeid__ZTSFvP7sk_buffE_global_addr\n"
        "ffff800080000024 A _kernel_size_le_lo32\n"
        "ffff800080000040 T next\n"
        "ffff800080001000 T _etext\n");
    CHECK(at(table, 0xffff80008000003f) == "tcp_v4_rcv+0x2f/0x30");
}

TEST_CASE("an address behind data in the middle of text has no name") {
    const auto table = table_of(
        "ffffffff81000000 T _text\nffffffff81000010 T f\nffffffff81000020 r constants\n"
        "ffffffff81000040 T g\nffffffff81001000 T _etext\n");
    CHECK(at(table, 0xffffffff8100001f) == "f+0xf/0x10");
    CHECK(at(table, 0xffffffff81000020) == "-");
    CHECK(at(table, 0xffffffff8100003f) == "-");
    CHECK(at(table, 0xffffffff81000040) == "g+0x0/0xfc0");
}

TEST_CASE("modules of kallsyms are named, each to its own end") {
    const auto table = table_of(
        "ffffffff81000000 T _text\n"
        "ffffffff81000010 T f\n"
        "ffffffff81001000 T _etext\n"
        "ffffffffc0a05000 t nft_do_chain\t[nf_tables]\n"
        "ffffffffc0a05700 t nft_last\t[nf_tables]\n"
        "ffffffffc0a09000 d nft_data\t[nf_tables]\n"
        "ffffffffc0402000 t virtnet_poll\t[virtio_net]\n"
        "ffffffffc0402900 T cleanup_module\t[virtio_net]\n"
        "ffffffffc0402900 t virtio_net_driver_exit\t[virtio_net]\n");
    CHECK(table.has_modules());
    CHECK(at(table, 0xffffffffc0a056ff) == "nft_do_chain+0x6ff/0x700 [nf_tables]");
    CHECK(table.find(0xffffffffc0a05001)->module == "nf_tables");
    SUBCASE("the last function ends with its page") {
        CHECK(at(table, 0xffffffffc0a05fff) == "nft_last+0x8ff/0x900 [nf_tables]");
        CHECK(at(table, 0xffffffffc0a06000) == "-");
        CHECK(at(table, 0xffffffffc0402fff) == "cleanup_module+0x6ff/0x700 [virtio_net]");
        CHECK(at(table, 0xffffffffc0403000) == "-");
    }
    SUBCASE("data of a module is not code") {
        CHECK(at(table, 0xffffffffc0a09000) == "-");
    }
    SUBCASE("of two names the first in the text, as the kernel does for modules") {
        CHECK(at(table, 0xffffffffc0402901) == "cleanup_module+0x1/0x700 [virtio_net]");
    }
    SUBCASE("with a KASLR offset a module cannot be known") {
        CHECK(at(table, 0xffffffffc0a05001, {AddressKind::exact, 0x1000}) == "-");
        CHECK(at(table, 0xffffffffc0a06001, {AddressKind::exact, 0x1000}) == "-");
    }
}

TEST_CASE("a 32-bit kernel with its modules below it") {
    const auto table = table_of(
        "c0008000 T _text\nc0100000 T _stext\nc0100010 t tcp_v4_rcv\nc0100400 T ip_rcv\nc0101000 T _etext\n"
        "bf000000 t probe\t[e1000]\nbf000100 t remove\t[e1000]\n");
    CHECK(at(table, 0xc01003ff) == "tcp_v4_rcv+0x3ef/0x3f0");
    CHECK(at(table, 0xbf0000ff) == "probe+0xff/0x100 [e1000]");
    CHECK(at(table, 0xbf001000) == "-");
    CHECK(at(table, 0xc0101000) == "-");
    CHECK(table.is_32_bit());
}

TEST_CASE("a table is of a 32-bit kernel if all of its addresses have eight digits") {
    CHECK(table_of("c0008000 T a\nc0009000 T b\n").is_32_bit());
    CHECK_FALSE(table_of("c0008000 T a\n00000000c0009000 T b\n").is_32_bit());
    CHECK_FALSE(table_of("0c0008000 T a\nc0009000 T b\n").is_32_bit());
    CHECK_FALSE(table_of(small_kernel).is_32_bit());
}

TEST_CASE("wherever functions lie, near together or far apart, a look-up finds what a look at each one finds") {
    std::mt19937_64 random(20261121);
    for (const int spread : {4, 9, 13, 24, 40, 56}) {
        std::set<std::uint64_t> starts;
        while (starts.size() < 211)
            starts.insert(0xffULL + (random() >> (64 - spread)) + (random() % 7 == 0 ? random() >> 8 : 0));
        std::string text;
        for (const auto start : starts)
            text += fmt::format("{:016x} {} f{:x}\n", start, start % 11 == 0 ? 'd' : 't', start);
        const auto table = table_of(text);
        const auto found_by_walk = [&](std::uint64_t address) -> std::string {
            for (std::size_t i = 0; i < table.size(); ++i) {
                const auto entry = table.function(i);
                if (address >= entry.start && address - entry.start < entry.symbol.size) {
                    return std::string(entry.symbol.name);
                }
            }
            return "-";
        };
        const auto found = [&](std::uint64_t address) {
            const auto symbol = table.find(address);
            return symbol ? std::string(symbol->name) : "-";
        };
        for (const auto start : starts) {
            for (const auto address : {start - 1, start, start + 1, start + (random() >> (64 - spread)), random()})
                REQUIRE(found(address) == found_by_walk(address));
        }
        CHECK(found(0) == "-");
        CHECK(found(~std::uint64_t{0}) == "-");
    }
}

TEST_CASE("a table without code is refused") {
    const auto table = SymbolTable::parse("ffffffff82000000 D jiffies\n", "data.map");
    REQUIRE_FALSE(table);
    CHECK(table.error().kind == base::ErrorKind::bad_input);
    CHECK(table.error().what.find("data.map has no code") != std::string::npos);
}

TEST_CASE("views outlive a move of the table") {
    auto table = table_of("ffffffff81000010 T f\n");
    const auto symbol = table.find(0xffffffff81000010);
    const auto moved = std::move(table);
    CHECK(symbol->name == "f");
    CHECK(at(moved, 0xffffffff81000010) == "f+0x0/0xff0");
}

TEST_CASE("code made at run time ends with its page, though more of it follows") {
    // Linux 6.12 with ftrace, kprobes and BPF in use; behind each page of ftrace and kprobes nothing is mapped.
    const auto table = table_of(
        "ffffffffc011a688 t bpf_prog_952cdccee77ed000_lab_101\t[bpf]\n"
        "ffffffffc011a8cc t bpf_prog_0ce05b2f1e818fbf_lab_1009\t[bpf]\n"
        "ffffffffc011f001 t bpf_prog_fa54c5dca2069ca2_lab_3\t[bpf]\n"
        "ffffffffc06ac000 t kprobe_insn_page\t[__builtin__kprobes]\n"
        "ffffffffc06ae000 t kprobe_optinsn_page\t[__builtin__kprobes]\n"
        "ffffffffc08c0000 t ftrace_trampoline\t[__builtin__ftrace]\n"
        "ffffffffc08c2000 t ftrace_trampoline\t[__builtin__ftrace]\n");
    CHECK(at(table, 0xffffffffc011a8cb) == "bpf_prog_952cdccee77ed000_lab_101+0x243/0x244 [bpf]");
    CHECK(at(table, 0xffffffffc011afff) == "bpf_prog_0ce05b2f1e818fbf_lab_1009+0x733/0x734 [bpf]");
    CHECK(at(table, 0xffffffffc011b000) == "-");
    CHECK(at(table, 0xffffffffc06acfff) == "kprobe_insn_page+0xfff/0x1000 [__builtin__kprobes]");
    CHECK(at(table, 0xffffffffc06ad000) == "-");
    CHECK(at(table, 0xffffffffc08c1fff) == "-");
    CHECK(at(table, 0xffffffffc08c2001) == "ftrace_trampoline+0x1/0x1000 [__builtin__ftrace]");
}

TEST_CASE("the KASLR offset is taken off before the look-up") {
    const auto table = table_of(small_kernel);
    CHECK(at(table, 0xffffffffa3000101, {AddressKind::exact, 0x22000000}) == "second+0x1/0x700");
    CHECK(at(table, 0xffffffffa3000101) == "-");
    CHECK(at(table, 0xffffffffa3000100, {AddressKind::return_address, 0x22000000}) == "first+0xf0/0xf0");
    CHECK(at(table, 0xffffffff80000101, {AddressKind::exact, -0x1000000}) == "second+0x1/0x700");
}

TEST_CASE("the KASLR offset is what the kernel's own marks moved by") {
    const auto map = table_of(small_kernel);
    const auto running = table_of(
        "ffffffffa3000000 T _text\nffffffffa3000000 T _stext\nffffffffa3000010 T first\n"
        "ffffffffa3001000 T _etext\n");
    CHECK(kaslr_offset_between(running, map) == 0x22000000);
    CHECK(kaslr_offset_between(map, running) == -0x22000000);
    CHECK(kaslr_offset_between(map, map) == 0);
}

TEST_CASE("no KASLR offset is made up for two different kernels or for excerpts") {
    const auto map = table_of(small_kernel);
    const auto other = table_of(
        "ffffffffa3000000 T _text\nffffffffa3000000 T _stext\nffffffffa3000010 T first\n"
        "ffffffffa3009000 T _etext\n");
    const auto kaslr_offset = kaslr_offset_between(other, map);
    REQUIRE_FALSE(kaslr_offset);
    CHECK(kaslr_offset.error().what.find("different kernels") != std::string::npos);
    CHECK_FALSE(kaslr_offset_between(table_of(seed), map));
}

TEST_CASE("a real 6.12: functions of the network stack, the ends of text, the last symbols") {
    const auto table = table_of(real_excerpt());
    CHECK(at(table, 0xffffffff81b54b40) == "icmp_rcv+0x0/0x350");
    CHECK(at(table, 0xffffffff81b54b3f) != "icmp_rcv+0x0/0x350");
    CHECK(at(table, 0xffffffff81b54e8f) == "icmp_rcv+0x34f/0x350");
    CHECK(at(table, 0xffffffff81b54e90) == "__pfx_icmp_err+0x0/0x10");
    CHECK(at(table, 0xffffffff81b54e90, as_return) == "icmp_rcv+0x350/0x350");
    CHECK(at(table, 0xffffffff81b4c841) == "__udp4_lib_rcv+0x1/0xd90");
    CHECK(at(table, 0xffffffff81000000) == "_stext+0x0/0x10");
    CHECK(at(table, 0xffffffff81ffffff) == "-");
    CHECK(at(table, 0xffffffff82000000) == "-");
    CHECK(at(table, 0xffffffff82000020) == "-");
    CHECK(at(table, 0x1001) == "-");
    CHECK(at(table, 0x39000) == "-");
    CHECK(at(table, 0xffffffff83355011) == "set_reset_devices+0x1/0x20 (init text)");
    CHECK(at(table, 0xffffffff833e3593) == "use_tpause_delay+0x23/0x24 (init text)");
    CHECK(at(table, 0xffffffff833e3594) == "-");
    CHECK(at(table, 0xffffffff83c30000) == "-");
    CHECK(at(table, 0xffffffffc076e440) == "-");
}

TEST_CASE("every symbol of a real 6.12 that is code is found at its own address, with offset 0") {
    const auto text = real_excerpt();
    const auto table = table_of(text);
    const auto lines = symbols::parse_symbol_text(text, "FILE")->lines;
    std::size_t found = 0;
    for (const auto& line : lines) {
        const auto symbol = table.find(line.address);
        if (!symbol) continue;
        ++found;
        CHECK(symbol->offset == 0);
        CHECK(symbol->size > 0);
        const auto before_end = table.find(line.address + symbol->size - 1);
        REQUIRE(before_end);
        CHECK(before_end->name == symbol->name);
        const auto after_end = table.find(line.address + symbol->size);
        CHECK((!after_end || after_end->offset == 0));
    }
    CHECK(found > 230);
}

TEST_CASE("a drop site is a return address, or the function that begins there") {
    const auto table = SymbolTable::parse(
        "ffffffff81000000 T _text\n"
        "ffffffff81000100 t net_rx_action\n"
        "ffffffff81000200 t net_tx_action\n"
        "ffffffff81000300 d some_data\n");
    REQUIRE(table);
    const auto name = [&](std::uint64_t address) {
        const auto symbol = table->find(address, {AddressKind::drop_site, 0});
        return symbol ? to_string(*symbol) : "";
    };
    CHECK(name(0xffffffff81000200) == "net_tx_action+0x0/0x100");
    CHECK(name(0xffffffff81000201) == "net_tx_action+0x1/0x100");
    CHECK(name(0xffffffff81000300) == "net_tx_action+0x100/0x100");
    CHECK(name(0xffffffff81000301).empty());
    CHECK(name(0xffffffff810000ff) == "_text+0xff/0x100");
}

TEST_CASE("behind the size that a table gives there is padding, and then nothing") {
    const auto table = table_of(
        "ffffffff81000000 T _text\nffffffff81000000 0000000000000101 T first\n"
        "ffffffff81000140 0000000000000010 t second\nffffffff81002000 T third\nffffffff81003000 T _etext\n");
    CHECK(at(table, 0xffffffff8100013f) == "first+0x13f/0x140");
    CHECK(at(table, 0xffffffff8100014f) == "second+0xf/0x10");
    CHECK(at(table, 0xffffffff81000150) == "-");
    CHECK(at(table, 0xffffffff81000150, as_return) == "second+0x10/0x10");
    CHECK(at(table, 0xffffffff81002fff) == "third+0xfff/0x1000");
}
