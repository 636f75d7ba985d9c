// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/name_check.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace stapgen;
using namespace stapgen::symbols;

namespace {

constexpr std::string_view crash_map =
    "ffffffff81000000 T _stext\n"
    "ffffffff81002010 T do_one_initcall\n"
    "ffffffff81002200 t try_to_run_init_process\n"
    "ffffffff81084240 t process_timeout\n"
    "ffffffff81084250 T del_timer\n"
    "ffffffff815285a0 T schedule_timeout\n"
    "ffffffff81528880 T schedule_timeout_killable\n"
    "ffffffff82000000 T _etext\n";

NameCheck check_of(std::string_view text, std::string_view symbols = crash_map) {
    const auto table = SymbolTable::parse(std::string(symbols));
    REQUIRE(table);
    return check_names(find_named_addresses(text), *table, 0);
}

std::string found_in(std::string_view text, int digits = 16) {
    std::string all;
    for (const auto& named : find_named_addresses(text, digits)) {
        all += fmt::format("{:x} {}", named.address, named.name);
        if (named.has_offset) all += fmt::format("+{:#x}", named.offset);
        all += '\n';
    }
    return all;
}

}  // namespace

TEST_CASE("a frame of crash's bt names the address behind it, and that of the stack is none") {
    CHECK(found_in(" #0 [ffff880023f6bd50] schedule_timeout at ffffffff81528732\n"
                   "#10 [ffff880023f6bdf0] do_one_initcall at ffffffff8100204c\n") ==
          "ffffffff81528732 schedule_timeout\nffffffff8100204c do_one_initcall\n");
    CHECK(found_in(" #0 [ffff880023f6bd50] schedule_timeout+402 at ffffffff81528732\n"
                   " #1 [ffff880023f6bdf0] do_one_initcall+0x3c at ffffffff8100204c\n") ==
          "ffffffff81528732 schedule_timeout+0x192\nffffffff8100204c do_one_initcall+0x3c\n");
    CHECK(found_in("#0 [c0b3be90] crash_save_current_state at c011aed0\n", 8) == "c011aed0 crash_save_current_state\n");
    // bt -t
    CHECK(found_in("  [ffff880023f6bdf0] do_one_initcall at ffffffff8100204c\n") ==
          "ffffffff8100204c do_one_initcall\n");
    for (const auto* none : {" #0 [ffff880023f6bd50] schedule at ffffffff81528732\n",
                             " #2 [ffff880023f6bd50] nft_do_chain at ffffffffc0a31011 [nf_tables]\n",
                             "3 packets dropped at ffffffff81528732\n", "[  812.104201] here at ffffffff81528732\n",
                             " #0 [ffff880023f6bd50] (unknown) at ffffffff81528732\n",
                             " #0 [ffff880023f6bd50] x+y at ffffffff81528732\n"}) {
        CAPTURE(none);
        CHECK(found_in(none).empty());
    }
    // Others stay as they are.
    CHECK(found_in(" [<ffffffff81528732>] schedule_timeout+0x192/0x2e0\n") ==
          "ffffffff81528732 schedule_timeout+0x192\n");
    CHECK(found_in("5 drops at del_timer+18 (0xffffffff81084268)\n") == "ffffffff81084268 del_timer+0x18\n");
}

TEST_CASE("a name without an offset is in that function or contradicts the table") {
    const std::string_view frames =
        " #0 [ffff880023f6bd50] schedule_timeout at ffffffff81528732\n"
        " #1 [ffff880023f6bdf0] do_one_initcall at ffffffff8100204c\n";
    const auto right = check_of(frames);
    CHECK(right.agreeing == 2);
    CHECK(right.exact == 0);
    CHECK(right.contradicting == 0);
    // Its end is the return address of a call that is its last instruction.
    CHECK(check_of(" #0 [ffff880023f6bd50] schedule_timeout at ffffffff81528880\n").agreeing == 1);

    const auto wrong = check_of(" #0 [ffff880023f6bd50] schedule_timeout at ffffffff8100204c\n");
    CHECK(wrong.agreeing == 0);
    CHECK(wrong.contradicting == 1);
    CHECK(wrong.contradiction ==
          "0xffffffff8100204c is in schedule_timeout in the log, but the table has do_one_initcall+0x3c/0x1f0 there");
    // A function that the table lacks says nothing.
    CHECK(check_of(" #0 [ffff880023f6bd50] other_function at ffffffff8100204c\n").contradicting == 0);

    const auto exact = check_of(" #0 [ffff880023f6bd50] schedule_timeout+402 at ffffffff81528732\n");
    CHECK(exact.exact == 1);
    CHECK(check_of(" #0 [ffff880023f6bd50] schedule_timeout+403 at ffffffff81528732\n").contradicting == 1);
}

TEST_CASE("a line may be of any length") {
    constexpr std::size_t many = 20000;
    std::string line;
    for (std::size_t i = 0; i < many; ++i)
        line += "ffffffff81528732 at ";
    CHECK(find_named_addresses(line).empty());
}
