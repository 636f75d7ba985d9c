// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"

#include <doctest/doctest.h>

using namespace stapgen::base;

TEST_CASE("a slip of the finger finds the name that was meant, a different word does not") {
    const std::vector<std::string> names{"rx-latency", "tx-latency", "sock-latency", "dropwatch"};
    CHECK(did_you_mean("rx-latncy", names) == "rx-latency");
    CHECK(did_you_mean("dropwtach", names) == "dropwatch");
    CHECK_FALSE(did_you_mean("bandwidth", names));
    CHECK(did_you_mean("--pid", {"--pod", "--target-pid", "--target-tid"}) == "--target-pid");
    CHECK(did_you_mean("rx-lat", {"rx-latency", "tx-latency"}) == "rx-latency");
    CHECK(did_you_mean("rx", {"tx-latency", "rx-latency"}) == "rx-latency");
}

TEST_CASE("a number is a number only as a whole") {
    CHECK(to_int("-17") == -17);
    CHECK_FALSE(to_int("17x"));
    CHECK_FALSE(to_int(""));
    CHECK(to_unsigned("ffffffff8149a8ed", 16) == 0xffffffff8149a8edU);
    CHECK_FALSE(to_unsigned("ffffffffffffffff0", 16));
    CHECK(from_hex("0x1f") == 31);
    CHECK(from_hex("1f") == 31);
    CHECK_FALSE(from_hex("0x"));
    CHECK(is_decimal("0123"));
    CHECK_FALSE(is_decimal("-1"));
    CHECK_FALSE(is_decimal(""));
}

TEST_CASE("escape sequences in a process name do not reach the terminal") {
    CHECK(printable("a\x1b[31mb\n") == "a\\x1b[31mb\\x0a");
    CHECK(printable("mc-worker") == "mc-worker");
    CHECK(printable("\x7f") == "\\x7f");
    CHECK(printable("a\xe2\x80\xae"
                    "b") ==
          "a\\xe2\\x80\\xae"
          "b");
    CHECK(printable("\xe2\x81\xa9\xe2\x80\xa9") == "\\xe2\\x81\\xa9\xe2\x80\xa9");
    // CSI of 8 bits, as a byte and as UTF-8; the first character beyond them is a blank.
    CHECK(printable("\x9b"
                    "2J") == "\\x9b2J");
    CHECK(printable("\xc2\x9b"
                    "2J") == "\\xc2\\x9b2J");
    CHECK(printable("\xc2\xa0") == "\xc2\xa0");
}

TEST_CASE("names in any script are shown, and bytes that are none as numbers") {
    CHECK(printable("größe-日本-😀") == "größe-日本-😀");
    CHECK(printable("\xe6\x97") == "\\xe6\\x97");           // cut, as 15 bytes of a thread's name may be
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");           // overlong
    CHECK(printable("\xe0\x9b\x9b") == "\\xe0\\x9b\\x9b");  // overlong
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
    CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
    CHECK(printable("\xf0\x90\x80\x80") == "\xf0\x90\x80\x80");
}

TEST_CASE("a shown command survives being pasted") {
    CHECK(shell_quoted({"stap", "-B", "CFLAGS_MODULE=-Wno-error -DX"}) == "stap -B 'CFLAGS_MODULE=-Wno-error -DX'");
    CHECK(shell_quoted({"it's", ""}) == "'it'\\''s' ''");
}

TEST_CASE("a command for a terminal has no byte that does something there, and is the same command") {
    const auto quoted = shell_quoted({"-o", "a\x1b[31m.rec", "b",
                                      "\xc2\x9b"
                                      "2J"});
    CHECK(shell_printable(quoted) == R"(-o 'a'$'\x1b''[31m.rec' b ''$'\xc2'''$'\x9b''2J')");
    CHECK(shell_printable("stapgen 'caf\xc3\xa9'") == "stapgen 'caf\xc3\xa9'");
}

TEST_CASE("a word of a list is a whole one") {
    CHECK(contains_word("kfree_skb tcp_drop", "kfree_skb"));
    CHECK(contains_word("kfree_skb tcp_drop", "tcp_drop"));
    CHECK_FALSE(contains_word("kfree_skb tcp_drop", "kfree"));
    CHECK_FALSE(contains_word("kfree_skb tcp_drop", "drop"));
    CHECK(contains_word("tcp_drop drop", "drop"));
    CHECK_FALSE(contains_word("kfree_skb tcp_drop", ""));
}

TEST_CASE("split keeps empty parts, words does not") {
    CHECK(split("a\t\tb", '\t').size() == 3);
    CHECK(split("", '\t').size() == 1);
    CHECK(words("  a \t b ").size() == 2);
}

TEST_CASE("each star stands for as little as will do, and the whole text must fit") {
    using Stars = std::vector<std::string_view>;
    CHECK(match("a*c*", "abcd").value() == Stars{"b", "d"});
    CHECK(match("*b", "abb").value() == Stars{"ab"});
    CHECK(match("a*b*c", "a1b2b3c").value() == Stars{"1", "2b3"});
    CHECK(match("*", "").value() == Stars{""});
    CHECK(match("**", "ab").value() == Stars{"", "ab"});
    CHECK(match("ab", "ab").value().empty());
    CHECK_FALSE(match("ab", "abc"));
    CHECK_FALSE(match("a", ""));
    CHECK_FALSE(match("a*a", "a"));
    CHECK_FALSE(match("*b*b", "ab"));
    CHECK_FALSE(match("a*c", "abcd"));
}

TEST_CASE("lines of a terminal are broken at blanks only, and go on deeper") {
    CHECK(fitted("one two three", 0) == "one two three");
    CHECK(fitted("one two three", 13) == "one two three");
    CHECK(fitted("one two three", 12) == "one two\n  three");
    CHECK(fitted("  one two three\nfour\n", 9) == "  one two\n    three\nfour\n");
    CHECK(fitted("a  b  c", 4) == "a  b\n  c");
    CHECK(fitted("a 0123456789 b", 6) == "a\n  0123456789\n  b");
    CHECK(fitted("    0123456789", 6) == "    0123456789");
    CHECK(fitted("one two three", 8, 0) == "one two\nthree");
    CHECK(fitted("   ", 2) == "   ");
    CHECK(fitted("ab cd", 1) == "ab\ncd");
}

TEST_CASE("prose is filled, what begins with a blank is not") {
    CHECK(reflowed("one two\nthree four\n\n  five six\nseven\n", 11) == "one two\nthree four\n\n  five six\nseven\n");
    CHECK(reflowed("one two\nthree four", 80) == "one two three four");
    CHECK(reflowed("one two\nthree", 0) == "one two\nthree");
    CHECK(reflowed("one\n", 80) == "one\n");
}

TEST_CASE("a command of several lines is the same command to a shell") {
    CHECK(fitted_command("  stap -v --color=never", 0) == "  stap -v --color=never");
    CHECK(fitted_command("  stap -v --color=never", 22) == "  stap -v \\\n    --color=never");
    CHECK(fitted_command("  stap -v --color=never", 23) == "  stap -v --color=never");
    CHECK(fitted_command("echo 'a b c d' x", 8) == "echo \\\n  'a b c d' \\\n  x");
    CHECK(fitted_command("echo \"a b\"'c d' x", 8) == "echo \\\n  \"a b\"'c d' \\\n  x");
}

TEST_CASE("a text is cut between characters") {
    const std::string_view text = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80z";  // of 1, 2, 3, 4 and 1 bytes
    const std::size_t expected[]{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (std::size_t bytes = 0; bytes < std::size(expected); ++bytes) {
        CAPTURE(bytes);
        CHECK(whole_characters(text, bytes) == text.substr(0, expected[bytes]));
    }
    // What is no UTF-8 has no characters to be kept whole.
    CHECK(whole_characters("\x80\x80\x80\x80\x80\x80", 5).size() == 1);
}
