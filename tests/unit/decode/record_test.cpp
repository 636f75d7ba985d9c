// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/record.h"

#include <doctest/doctest.h>

using namespace stapgen::decode;

TEST_CASE("what the script escaped comes back as it was") {
    CHECK(unescape("memcached") == "memcached");
    CHECK(unescape("a\\tb\\nc\\\\d") == "a\tb\nc\\d");
    CHECK(unescape("\\033[31m") == "\x1b[31m");
    CHECK(unescape("\\377") == "\xff");
    CHECK(unescape("\\3777") ==
          "\xff"
          "7");
    CHECK(unescape("\\\\t") == "\\t");
    CHECK(unescape("\\a\\b\\f\\r\\v\\\"") == "\a\b\f\r\v\"");
    CHECK(unescape("caf\\u00e9 \\u20ac \\U0001f600") == "caf\u00e9 \u20ac \U0001f600");
    CHECK(unescape("\\u00") == "\\u00");
    CHECK(unescape("\\uD8xx") == "\\uD8xx");
}

TEST_CASE("a backslash that escapes nothing stays") {
    CHECK(unescape("\\") == "\\");
    CHECK(unescape("a\\") == "a\\");
    CHECK(unescape("\\x") == "\\x");
    CHECK(unescape("\\03") == "\\03");
    CHECK(unescape("\\400") == "\\400");
    CHECK(unescape("\\08z") == "\\08z");
}

TEST_CASE("an endpoint is shown as people write it") {
    CHECK(endpoint_text("0.ffff7f000001:11211") == "127.0.0.1:11211");
    CHECK(endpoint_text("0.ffffffffffff:65535") == "255.255.255.255:65535");
    CHECK(endpoint_text("0.1:80") == "[::1]:80");
    CHECK(endpoint_text("0.1") == "::1");
    CHECK(endpoint_text("0.ffffc0000201") == "192.0.2.1");
    CHECK(endpoint_text("0.0:0") == "[::]:0");
    CHECK(endpoint_text("fe80000000000000.1:80") == "[fe80::1]:80");
    CHECK(endpoint_text("20010db8000000ff.123456789abcdef:443") == "[2001:db8:0:ff:123:4567:89ab:cdef]:443");
    CHECK(endpoint_text("1.ffff7f000001:1") == "[::1:0:ffff:7f00:1]:1");
    for (const char* other : {"", ":", ".", ".:", "0:80", "x.1:80"})
        CHECK(endpoint_text(other) == other);
}

TEST_CASE("a schema finds its fields by name") {
    const Schema schema{"rx", 0, {{"time", FieldType::time}, {"pid", FieldType::integer}}};
    CHECK(schema.find("pid") == 1);
    CHECK_FALSE(schema.find("tid"));
}
