// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/annotate.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "symbols/files/symbol_table.h"

using namespace stapgen;
using symbols::AddressKind;
using symbols::Annotator;
using symbols::AppendName;

namespace {

char letter_of(AddressKind kind) {
    return kind == AddressKind::drop_site ? 'D' : kind == AddressKind::exact ? 'I' : 'B';
}

/// Names all addresses of the upper half by kind and last three digits: "<D:8ed>".
class UpperHalf {
  public:
    explicit UpperHalf(std::uint64_t first = 0xffff'0000'0000'0000) : first_(first) {}
    bool operator()(std::uint64_t address, AddressKind kind, std::string& out) const {
        if (address < first_) return false;
        out += fmt::format("<{}:{:03x}>", letter_of(kind), address & 0xfff);
        return true;
    }

  private:
    std::uint64_t first_;
};

class NamesNothing {
  public:
    bool operator()(std::uint64_t, AddressKind, std::string&) const { return false; }
};

class TableNamer {
  public:
    explicit TableNamer(const symbols::SymbolTable& table) : table_(table) {}
    bool operator()(std::uint64_t address, AddressKind kind, std::string& out) const {
        const auto symbol = table_.find(address, {kind == AddressKind::exact ? kind : AddressKind::return_address, 0});
        if (symbol) out += to_string(*symbol);
        return symbol.has_value();
    }

  private:
    const symbols::SymbolTable& table_;
};

std::string annotated(std::string_view text, const AppendName& names = UpperHalf(), int digits = 16) {
    std::string out;
    Annotator(names, digits).annotate(text, out);
    return out;
}

/// Cut behind words.
template <class Random>
std::string annotated_in_pieces(std::string_view text, const AppendName& names, int digits, std::size_t longest,
                                Random& random) {
    std::string out;
    Annotator annotator(names, digits);
    while (!text.empty()) {
        auto size = std::min<std::size_t>(text.size(), random() % (longest + 1));
        while (size < text.size() && (size == 0 || base::is_word_character(text[size - 1])))
            ++size;
        annotator.annotate(text.substr(0, size), out);
        text.remove_prefix(size);
    }
    return out;
}

std::string mentions(std::string_view text, int digits = 16) {
    class Collector {
      public:
        void operator()(std::uint64_t address, AddressKind kind) {
            all += fmt::format("{}{:x} ", letter_of(kind), address);
        }
        std::string all;
    } collector;
    symbols::collect_addresses(text, std::ref(collector), digits);
    return collector.all;
}

}  // namespace

TEST_CASE("a name takes the place of an address, whatever is around it") {
    CHECK(annotated("ffffffff8149a8ed") == "<B:8ed>");
    CHECK(annotated("0xffffffff8149a8ed\n") == "<B:8ed>\n");
    CHECK(annotated("0XFFFFFFFF8149A8ED\r\n") == "<B:8ed>\r\n");
    CHECK(annotated(" [<ffffffff8149a8ed>] ") == " [<<B:8ed>>] ");
    CHECK(annotated("(0xffffffff8149a8ed),ffffffff8149a001;") == "(<B:8ed>),<B:001>;");
    CHECK(annotated("ip=ffffffff8149a8ed\tx") == "ip=<I:8ed>\tx");
    CHECK(annotated("ffffffff8149a8ed ffffffff8149a001\nffffffff8149a002") == "<B:8ed> <B:001>\n<B:002>");
    CHECK(annotated("0xffffffff8149a8ed+0x10/0x20") == "<B:8ed>+0x10/0x20");
    CHECK(annotated("-ffffffff8149a8ed.") == "-<B:8ed>.");
}

TEST_CASE("what is not a word of exactly sixteen digits stays") {
    for (const std::string_view text : {"ffffffff8149a8e",
                                        "ffffffff8149a8ed0",
                                        "xffffffff8149a8ed",
                                        "1xffffffff8149a8ed",
                                        "00xffffffff8149a8ed",
                                        "_ffffffff8149a8ed",
                                        "ffffffff8149a8ed_",
                                        "ffffffff8149a8edx",
                                        "0xffffffff8149a8edg",
                                        "gffffffff8149a8ed",
                                        "0x",
                                        "x",
                                        "0",
                                        "",
                                        "0x0xffffffff8149a8edf",
                                        "ffffffff8149a8edffffffff8149a8ed",
                                        "2f2da0951b2d4a4d8c1b2f2da0951b2dffffffff",
                                        "ffffffff-8149-a8ed",
                                        "ffffffff8149a8\ned",
                                        "0000000000000042",
                                        "name_0xffffffff8149a8ed"}) {
        CAPTURE(text);
        CHECK(annotated(text) == text);
    }
    CHECK(annotated("0x0x ffffffff8149a8ed") == "0x0x <B:8ed>");
    CHECK(annotated("ffffffff8149a8ed1 ffffffff8149a8ed") == "ffffffff8149a8ed1 <B:8ed>");
}

TEST_CASE("addresses of a 32-bit kernel have eight digits") {
    const UpperHalf names(0xc0000000);
    CHECK(annotated("pc : [<c026ace8>]    lr : [<c0251b60>]    psr: a0000113", names, 8) ==
          "pc : [<<I:ce8>>]    lr : [<<B:b60>>]    psr: a0000113");
    CHECK(annotated("ffffffff8149a8ed 0xc026ace8 c026ace80", names, 8) == "ffffffff8149a8ed <B:ce8> c026ace80");
    CHECK(annotated("c026ace8", names) == "c026ace8");
}

TEST_CASE("bytes that are no text stay as they are") {
    const std::string before("\xff\0\xc3", 3);
    const std::string after("\xa9\0\r\r\n\x80", 6);
    CHECK(annotated(before + "ffffffff8149a8ed" + after) == before + "<B:8ed>" + after);
}

TEST_CASE("the line says what the address stands for: drops") {
    CHECK(annotated("208 packets dropped at location 0xffffffffb594ae2a") == "208 packets dropped at location <D:e2a>");
    CHECK(annotated("103 packets dropped at 0xffffffffc07344fe for reason: 11") ==
          "103 packets dropped at <D:4fe> for reason: 11");
    CHECK(annotated("103 drops at __init_scratch_end+2cffb4fe (0xffffffffc07fb4fe) [software]") ==
          "103 drops at __init_scratch_end+2cffb4fe (<D:4fe>) [software]");
    CHECK(annotated("drop at: tcp_v4_rcv+0x1cb/0xd50 (0xffffffff9113a20a)") ==
          "drop at: tcp_v4_rcv+0x1cb/0xd50 (<D:20a>)");
    CHECK(annotated("drop\tffffffffb794ae2a\t6\t208") == "drop\t<D:e2a>\t6\t208");
    CHECK(annotated("skb:kfree_skb: skbaddr=0x1f protocol=2048 location=0xffffffff9114ae2a reason: NO_SOCKET") ==
          "skb:kfree_skb: skbaddr=0x1f protocol=2048 location=<D:e2a> reason: NO_SOCKET");
    SUBCASE("a packet that was used is no drop") {
        CHECK(annotated("skb:consume_skb: skbaddr=0x1f location=0xffffffff9114ae2a") ==
              "skb:consume_skb: skbaddr=0x1f location=<B:e2a>");
    }
    SUBCASE("the next line begins anew") {
        CHECK(annotated("1 packets dropped at\nffffffffb594ae2a") == "1 packets dropped at\n<B:e2a>");
    }
    SUBCASE("words that only begin like those do not count") {
        CHECK(annotated("drop_caches kfree_skb_reason+0x1 ffffffffb594ae2a") ==
              "drop_caches kfree_skb_reason+0x1 <B:e2a>");
    }
}

// Lines of reports in public bug trackers.
TEST_CASE("the line says what the address stands for: oopses") {
    CHECK(annotated("[84367.467905] IP: [<ffffffff81430677>] mptcp_reqsk_find_tk+0x73/0x83") ==
          "[84367.467905] IP: [<<I:677>>] mptcp_reqsk_find_tk+0x73/0x83");
    CHECK(annotated("[331404.849920] RIP: 0010:[<ffffffff81469798>]  [<ffffffff81469798>] _raw_spin_lock+0x18/0x20") ==
          "[331404.849920] RIP: 0010:[<<I:798>>]  [<<I:798>>] _raw_spin_lock+0x18/0x20");
    CHECK(annotated("[331404.850010]  [<ffffffff811557ea>] mem_cgroup_soft_limit_reclaim+0x25a/0x280") ==
          "[331404.850010]  [<<B:7ea>>] mem_cgroup_soft_limit_reclaim+0x25a/0x280");
    CHECK(annotated("R10: ffffffff81436fa0 R11: ffffffff826015a1 R12: 0000000000000000") ==
          "R10: <I:fa0> R11: <I:5a1> R12: 0000000000000000");
    CHECK(annotated("RIP: 0010:__netif_receive_skb_core.constprop.0+0x39/0x10b0\n") ==
          "RIP: 0010:__netif_receive_skb_core.constprop.0+0x39/0x10b0\n");
    CHECK(annotated("RIP: 0010:0xffffffffc0a1b2c3") == "RIP: 0010:<I:2c3>");
    CHECK(annotated("pc : [<ffffff8000ef0024>] lr : [<ffffff8000ef0018>] pstate: 40000145") ==
          "pc : [<<I:024>>] lr : [<<B:018>>] pstate: 40000145");
    CHECK(annotated("PC is at 0xffffff8000ef0024") == "PC is at <I:024>");
    CHECK(annotated("LR is at 0xffffff8000ef0018") == "LR is at <B:018>");
    CHECK(annotated("NIP: d107c0c8 LR: c0072834 CTR: 0fe368a4", UpperHalf(0xc0000000), 8) ==
          "NIP: <I:0c8> LR: <B:834> CTR: 0fe368a4");
    CHECK(annotated("NIP [d107c0c8] faulty_write+0x8/0x10 [faulty]", UpperHalf(0xc0000000), 8) ==
          "NIP [<I:0c8>] faulty_write+0x8/0x10 [faulty]");
    CHECK(annotated("[41169.489621] [<805b225c>] tcp_gso_segment+0x118/0x5a0", UpperHalf(0x80000000), 8) ==
          "[41169.489621] [<<B:25c>>] tcp_gso_segment+0x118/0x5a0");
    CHECK(annotated("    RIP: ffffffffbcf5ab73  RSP: ffff9e257ae2b8d0  RFLAGS: 00010206",
                    UpperHalf(0xffffffff80000000)) == "    RIP: <I:b73>  RSP: ffff9e257ae2b8d0  RFLAGS: 00010206");
    CHECK(annotated(" #7 [ffff9e257ae2b9f8] tcp_v4_rcv at ffffffffbd2655de", UpperHalf(0xffffffff80000000)) ==
          " #7 [ffff9e257ae2b9f8] tcp_v4_rcv at <B:5de>");
}

TEST_CASE("stacks of perf script, ftrace and SystemTap are return addresses") {
    CHECK(annotated("\tffffffff81b54cc2 icmp_rcv+0x182 ([kernel.kallsyms])\n") ==
          "\t<B:cc2> icmp_rcv+0x182 ([kernel.kallsyms])\n");
    CHECK(annotated(" => ffffffff81b54cc2\n => ffffffff81b4c841\n") == " => <B:cc2>\n => <B:841>\n");
    CHECK(annotated("0xffffffff81b54cc2 0xffffffff81b4c841 0xffffffff81a47812\n") == "<B:cc2> <B:841> <B:812>\n");
}

TEST_CASE("addresses are collected by the same rules, with names or without") {
    CHECK(mentions("3 drops at ffffffffb594ae2a\n 0xFFFFFFFFB594AE2B ab\nRIP: 0010:[<0000000000000042>]\n12345678") ==
          "Dffffffffb594ae2a Bffffffffb594ae2b I42 ");
    CHECK(mentions("pc : c0008000\n12345678 123456789", 8) == "Ic0008000 B12345678 ");
    CHECK(mentions("").empty());
}

TEST_CASE("any cutting of any text gives what the text in one piece gives") {
    // Bricks that fit together to addresses, to what nearly is one, and to words that tell of what they are.
    const std::vector<std::string> bricks{"ffffffff8149a8ed",
                                          "FFFFFFFF",
                                          "8149a8ed",
                                          "0x",
                                          "x",
                                          "0",
                                          "f",
                                          "_",
                                          "g",
                                          " ",
                                          "\n",
                                          "\r\n",
                                          ": ",
                                          " [<ffffffff8149a8ed>] ",
                                          "[<",
                                          ">]",
                                          "drop",
                                          "s",
                                          " at ",
                                          "RIP",
                                          "pc ",
                                          "lr ",
                                          "location=",
                                          "consume_skb",
                                          "is",
                                          "0010",
                                          "\xc3\xa9",
                                          "a",
                                          "R1",
                                          std::string(1, '\0'),
                                          "dddddddddddddddddddddddd",
                                          "LR",
                                          "kfree_skb"};
    std::mt19937 random(20261121);
    const NamesNothing none;
    std::size_t named = 0;
    for (int round = 0; round < 2003; ++round) {
        std::string text;
        const auto size = random() % 61;
        for (std::size_t i = 0; i < size; ++i)
            text += bricks[random() % bricks.size()];
        const int digits = round % 3 == 0 ? 8 : 16;
        const UpperHalf names(digits == 8 ? 0x80000000 : 0xffff000000000000);
        const auto whole = annotated(text, names, digits);
        named += whole != text ? 1 : 0;
        CAPTURE(text);
        REQUIRE(annotated_in_pieces(text, names, digits, 1, random) == whole);
        REQUIRE(annotated_in_pieces(text, names, digits, 7, random) == whole);
        REQUIRE(annotated_in_pieces(text, names, digits, 41, random) == whole);
        REQUIRE(annotated_in_pieces(text, none, digits, 13, random) == text);
    }
    CHECK(named > 500);
}

TEST_CASE("in random bytes the same addresses are found as by looking at each word") {
    std::mt19937 random(31337);
    const std::string_view usual = "0123456789abcdefABCDEF x_\n";
    for (const std::size_t digits : {std::size_t{8}, std::size_t{16}}) {
        std::string text;
        while (text.size() < 300'007) {
            if (random() % 5 == 0) {
                text += std::string_view(" \n>_0x")[random() % 6];
                for (std::size_t i = digits - 1 + random() % 3; i > 0; --i)
                    text += usual[random() % 22];
                text += std::string_view(" \n>_0x")[random() % 6];
            }
            text += random() % 31 == 0 ? static_cast<char>(random()) : usual[random() % usual.size()];
        }
        std::string expected;
        for (std::size_t at = 0; at < text.size();) {
            auto end = at;
            while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
                ++end;
            auto word = text.substr(at, end - at);
            if (word.starts_with("0x")) word.erase(0, 2);
            if (word.size() == digits && word.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos) {
                expected += fmt::format("B{:x} ", std::stoull(word, nullptr, 16));
            }
            at = end + 1;
        }
        CHECK(std::ranges::count(expected, ' ') > 1000);
        auto found = mentions(text, static_cast<int>(digits));
        std::ranges::replace(found, 'I', 'B');  // "a0", "a1" are registers of riscv
        CHECK(found == expected);
    }
}

TEST_CASE("a real 6.12 names the places of a log, and the end of a function is not the next one") {
    const auto text = base::read_file(TEST_DATA "/kallsyms-6.12.117-excerpt");
    REQUIRE(text);
    const auto table = symbols::SymbolTable::parse(*text);
    REQUIRE(table);
    const TableNamer names(*table);
    CHECK(annotated("17 packets dropped at 0xffffffff81b54cc2\n3 packets dropped at 0xffffffffc07344fe\n", names) ==
          "17 packets dropped at icmp_rcv+0x182/0x350\n3 packets dropped at 0xffffffffc07344fe\n");
    CHECK(annotated(" [<ffffffff81b54e90>]\nRIP: 0010:[<ffffffff81b54e90>]\n", names) ==
          " [<icmp_rcv+0x350/0x350>]\nRIP: 0010:[<__pfx_icmp_err+0x0/0x10>]\n");
}
