// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/drop_sites.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string>

using namespace stapgen;
using namespace stapgen::symbols;

namespace {

constexpr std::uint64_t start = 0xffffffff81000000;

/// Functions of 0x100 bytes each, in this order; calls and jumps are put in by name.
class Kernel {
  public:
    explicit Kernel(std::initializer_list<std::string> names) : names_(names), bytes_(names.size() * 0x100, '\x90') {}

    [[nodiscard]] std::uint64_t at(std::string_view name) const {
        const auto found = std::ranges::find(names_, name);
        REQUIRE(found != names_.end());
        return start + static_cast<std::uint64_t>(found - names_.begin()) * 0x100;
    }
    /// Returns the address behind the instruction.
    std::uint64_t put(std::string_view in, std::uint64_t offset, char opcode, std::string_view target) {
        const auto next = at(in) + offset + 5;
        const auto relative = static_cast<std::uint32_t>(at(target) - next);
        const auto place = next - 5 - start;
        bytes_[place] = opcode;
        for (unsigned i = 0; i < 4; ++i)
            bytes_[place + 1 + i] = static_cast<char>(relative >> (8 * i) & 0xffU);
        return next;
    }
    std::uint64_t call(std::string_view in, std::uint64_t offset, std::string_view target) {
        return put(in, offset, '\xe8', target);
    }
    void jump(std::string_view in, std::uint64_t offset, std::string_view target) { put(in, offset, '\xe9', target); }

    [[nodiscard]] std::vector<std::uint64_t> sites() const {
        std::string map = fmt_line(start, "_stext");
        for (const auto& name : names_)
            map += fmt_line(at(name), name);
        map += fmt_line(start + bytes_.size(), "_etext");
        const auto table = SymbolTable::parse(map);
        REQUIRE(table);
        const CodeRange range{start, std::as_bytes(std::span(bytes_)), false};
        const auto sites = DropSites::from_code(std::span(&range, 1), Architecture::x86_64, *table);
        CHECK(sites.exact());
        std::vector<std::uint64_t> found;
        for (const auto& site : sites.ranges()) {
            CHECK(site.end == site.begin + 1);
            found.push_back(site.begin);
        }
        return found;
    }

  private:
    static std::string fmt_line(std::uint64_t address, const std::string& name) {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string line;
        for (int shift = 60; shift >= 0; shift -= 4)
            line += digits[address >> static_cast<unsigned>(shift) & 15U];
        return line + " t " + name + "\n";
    }

    std::vector<std::string> names_;
    std::string bytes_;
};

using Sites = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a drop site is where a call of kfree_skb() returns to, in each generation of its name") {
    for (const auto* name : {"kfree_skb", "kfree_skb_reason", "sk_skb_reason_drop"}) {
        Kernel kernel{name, "tcp_v4_rcv", "other"};
        const auto site = kernel.call("tcp_v4_rcv", 0x13, name);
        kernel.call("other", 0x13, "tcp_v4_rcv");
        CHECK(kernel.sites() == Sites{site});
    }
}

TEST_CASE("what calls the tracepoint itself frees as dropped, whatever its name") {
    Kernel kernel{"first", "__SCT__tp_func_kfree_skb", "some_new_free", "tcp_v4_rcv"};
    kernel.call("some_new_free", 0x29, "__SCT__tp_func_kfree_skb");
    const auto site = kernel.call("tcp_v4_rcv", 0x13, "some_new_free");
    CHECK(kernel.sites() == Sites{site});
}

TEST_CASE("a function that ends in a jump leaves its caller as the place, through several of them") {
    Kernel kernel{"kfree_skb", "ends", "ends_too", "caller", "ends.cold", "ends_cold", "ends_cold.cold", "second"};
    kernel.jump("ends", 0x17, "kfree_skb");
    kernel.jump("ends_too", 0x35, "ends");
    const auto first = kernel.call("caller", 0x11, "ends");
    const auto second = kernel.call("caller", 0x1d, "ends_too");
    kernel.jump("ends_cold.cold", 0x05, "kfree_skb");
    const auto third = kernel.call("second", 0x61, "ends_cold");
    CHECK(kernel.sites() == Sites{first, second, third});
}

TEST_CASE("a loop to a function's own beginning is no end of anything, and functions may jump to each other") {
    Kernel kernel{"kfree_skb", "one", "other", "caller"};
    kernel.jump("kfree_skb", 0x17, "kfree_skb");
    kernel.jump("one", 0x17, "other");
    kernel.jump("other", 0x17, "one");
    kernel.jump("other", 0x47, "kfree_skb");
    const auto site = kernel.call("caller", 0x11, "one");
    CHECK(kernel.sites() == Sites{site});
}

TEST_CASE("net_tx_action() gives its own address") {
    Kernel kernel{"kfree_skb", "net_tx_action"};
    CHECK(kernel.sites() == Sites{kernel.at("net_tx_action")});
}

TEST_CASE("a device or protocol that is called through a pointer can leave its caller as the place") {
    Kernel kernel{"kfree_skb", "dev_hard_start_xmit", "another", "__x86_indirect_thunk_rax"};
    const auto next = kernel.call("dev_hard_start_xmit", 0x43, "__x86_indirect_thunk_rax");
    kernel.call("another", 0x43, "__x86_indirect_thunk_rax");
    CHECK(kernel.sites() == Sites{next - 3, next - 2, next});
}

TEST_CASE("without code the whole of each function with such calls in some kernel is a site") {
    const auto table = SymbolTable::parse(
        "ffffffff81000000 T _stext\n"
        "ffffffff81000100 t tcp_v4_rcv\n"
        "ffffffff81000200 t schedule\n"
        "ffffffff81000300 t ip_rcv_core.isra.0\n"
        "ffffffff81000380 t ip_rcv_core_of_another_name\n"
        "ffffffff81000400 t tcp_v4_rcv.cold\n"
        "ffffffff81000419 T _etext\n"
        "ffffffffc0001000 t tcp_v4_rcv [copy]\n");
    REQUIRE(table);
    const auto sites = DropSites::from_names(*table);
    CHECK_FALSE(sites.exact());
    REQUIRE(sites.size() == 3);
    CHECK(sites.ranges()[0].begin == 0xffffffff81000100);
    CHECK(sites.ranges()[0].end == 0xffffffff81000200);
    CHECK(sites.ranges()[1].begin == 0xffffffff81000300);
    CHECK(sites.ranges()[1].end == 0xffffffff81000380);
    CHECK(sites.ranges()[2].end == 0xffffffff81000419);
    CHECK_FALSE(sites.contains(0xffffffff810000ff));
    CHECK(sites.contains(0xffffffff81000100));
    CHECK(sites.contains(0xffffffff810001ff));
    CHECK_FALSE(sites.contains(0xffffffff81000200));
    CHECK_FALSE(sites.contains(0xffffffffc0001000));
}

TEST_CASE("the compiled-in list is sorted, each once, in the names of the source") {
    const auto names = known_drop_functions();
    CHECK(names.size() > 700);
    CHECK(std::ranges::is_sorted(names));
    CHECK(std::ranges::adjacent_find(names) == names.end());
    for (const auto name : names)
        CHECK(source_name(name) == name);
    for (const auto* name :
         {"icmp_rcv", "tcp_v4_rcv", "__udp4_lib_rcv", "udp_rcv", "net_tx_action", "neigh_invalidate"}) {
        CHECK_MESSAGE(std::ranges::binary_search(names, std::string_view(name)), name);
    }
}

TEST_CASE("a name of the source has no suffix of the compiler") {
    CHECK(source_name("ip_rcv_core.isra.0") == "ip_rcv_core");
    CHECK(source_name("tcp_v4_rcv.cold") == "tcp_v4_rcv");
    CHECK(source_name("foo.constprop.0.isra.0.cold") == "foo");
    CHECK(source_name("tcp_v4_rcv") == "tcp_v4_rcv");
    CHECK(source_name(".local") == ".local");
    CHECK(source_name("").empty());
}
