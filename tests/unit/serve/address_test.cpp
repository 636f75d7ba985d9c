// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/address.h"

#include <doctest/doctest.h>

using namespace stapgen::serve;

TEST_CASE("where to listen is an address and a port") {
    const auto read = [](std::string_view text) {
        const auto endpoint = parse_endpoint(text);
        return endpoint ? text_of(*endpoint) : "refused";
    };
    CHECK(read("127.0.0.1:9752") == "127.0.0.1:9752");
    CHECK(read("localhost:9752") == "127.0.0.1:9752");
    CHECK(read("[::1]:9752") == "[::1]:9752");
    CHECK(read("0.0.0.0:0") == "0.0.0.0:0");
    CHECK(read("[::]:65535") == "[::]:65535");
    for (const auto* text :
         {"", ":9752", "9752", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "*:9752", "web1:9752",
          "::1:9752", "[::1]", "[::1", "[127.0.0.1]:9752", "127.0.0.1:97 52", "http://127.0.0.1:9752", "[::1]9752"}) {
        CAPTURE(text);
        CHECK(read(text) == "refused");
    }
}

TEST_CASE("where to push is a URL of http") {
    const auto read = [](std::string_view text) {
        const auto url = parse_otlp_url(text);
        return url ? text_of(Endpoint{url->host, url->port}) + " " + url->path : "refused";
    };
    CHECK(read("http://127.0.0.1:4318") == "127.0.0.1:4318 /v1/metrics");
    CHECK(read("http://127.0.0.1:4318/") == "127.0.0.1:4318 /v1/metrics");
    CHECK(read("http://collector.example/opentelemetry/v1/metrics?x=1") ==
          "collector.example:80 /opentelemetry/v1/metrics?x=1");
    CHECK(read("http://[::1]:8428/x") == "[::1]:8428 /x");
    for (const auto* text :
         {"", "https://127.0.0.1:4318", "127.0.0.1:4318", "http://", "http:///v1/metrics", "http://a:0x1/",
          "http://a:99999/", "http://user@a/", "http://a/b c", "http://a/\r\nX: y", "http://a#b", "http://[::1"}) {
        CAPTURE(text);
        CHECK(read(text) == "refused");
    }
}
