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

TEST_CASE("a Host header is this machine's, or may be anybody's that points here") {
    const Endpoint local{"127.0.0.1", 9752}, all{"0.0.0.0", 9752};
    for (const auto* own : {"127.0.0.1", "127.0.0.1:9752", "[::1]:9752", "10.0.0.7", "localhost", "Localhost:9752",
                            "web1.example.com:9752"}) {
        CAPTURE(own);
        CHECK(is_own_host(own, local, "web1.example.com"));
    }
    for (const auto* foreign : {"", "evil.example", "evil.example:9752", "127.0.0.1.evil.example",
                                "localhost.evil.example", "web1.evil.example", "web1", "[::1", "127.0.0.1:x", "::1"}) {
        CAPTURE(foreign);
        CHECK_FALSE(is_own_host(foreign, local, "web1.example.com"));
    }
    CHECK(is_own_host("web1.monitoring.example:9752", all, "web1"));
    CHECK_FALSE(is_own_host("web12.monitoring.example", all, "web1"));
    CHECK_FALSE(is_own_host("", all, ""));
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
