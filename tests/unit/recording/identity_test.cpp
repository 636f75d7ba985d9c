// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/identity.h"

#include <doctest/doctest.h>

#include <set>

using namespace stapgen::recording;

namespace {

Setup rx() {
    Setup setup;
    setup.recipe = "rx-latency";
    setup.recipe_hash = "0123456789abcdef";
    setup.filters = {{"port", "80"}};
    setup.functions = {"kernel.trace(\"net:netif_receive_skb\")", "kprobe.function(\"ip_rcv_core\")"};
    return setup;
}

std::string unlike(const auto& change) {
    auto other = rx();
    change(other);
    auto a = rx().origin(), b = other.origin();
    a.definition = definition_of(rx());
    b.definition = definition_of(other);
    CHECK((a.definition == b.definition) ==
          (a.filters == b.filters && a.functions == b.functions && a.recipe_hash == b.recipe_hash));
    return unlike_text(a, b);
}

}  // namespace

TEST_CASE("what decides what the numbers mean is in the definition, each by itself") {
    std::set<std::string> definitions{definition_of(rx())};
    const auto changed = [&](const auto& change) {
        auto setup = rx();
        change(setup);
        CHECK(definition_of(setup).size() == 12);
        return definitions.insert(definition_of(setup)).second;
    };
    CHECK(changed([](Setup& setup) { setup.recipe = "tx-latency"; }));
    CHECK(changed([](Setup& setup) { setup.recipe_hash[3] = '4'; }));
    CHECK(changed([](Setup& setup) { setup.filters["port"] = "81"; }));
    CHECK(changed([](Setup& setup) { setup.filters["sample"] = "16"; }));
    CHECK(changed([](Setup& setup) { setup.filters.clear(); }));
    CHECK(changed([](Setup& setup) { setup.functions.pop_back(); }));
    CHECK(changed([](Setup& setup) { setup.functions.back() = "kprobe.function(\"ip_rcv\")"; }));

    for (const std::string target : {"target-pid", "target-tid"}) {
        CHECK(changed([&](Setup& setup) { setup.filters[target] = "17"; }));
        // A restarted server.
        CHECK_FALSE(changed([&](Setup& setup) { setup.filters[target] = "18"; }));
    }
    CHECK_FALSE(changed([](Setup& setup) {
        setup.host = "web18";
        setup.machine = "1dee";
        setup.labels["dc"] = "fra1";
        setup.kernel.release = "7.2";
        setup.kernel.build_id = "abcd";
        setup.command = {"stapgen", "rx-latency", "-o", "b.rec"};
        setup.sha256 = "with an interval";
    }));
}

TEST_CASE("what differs in two definitions is told in words") {
    CHECK(unlike([](Setup& setup) { setup.filters.clear(); }) == "they differ in filters (--port 80; none)");
    CHECK(unlike([](Setup& setup) { setup.recipe_hash = "1"; }) == "they differ in recipe or parameters");
    CHECK(unlike([](Setup& setup) { setup.functions.back() = "kprobe.function(\"ip_rcv\")"; }) ==
          "they differ in probed functions (kprobe.function(\"ip_rcv_core\"); kprobe.function(\"ip_rcv\"))");
    CHECK(unlike([](Setup& setup) {
              setup.functions = {};
              setup.filters["port"] = "8\x1b";
          }) ==
          "they differ in filters (--port 80; --port '8\\x1b'), probed functions "
          "(kernel.trace(\"net:netif_receive_skb\"), kprobe.function(\"ip_rcv_core\"); none more)");
    CHECK(unlike_text({}, rx().origin()) ==
          "they differ in recipe or parameters, filters (none; --port 80), probed functions (none more; "
          "kernel.trace(\"net:netif_receive_skb\"), "
          "kprobe.function(\"ip_rcv_core\"))");
    auto known = rx().origin();
    known.definition = "1";
    CHECK(unlike_text({}, known).starts_with("one of them has no definition"));
}

TEST_CASE("labels are names with values, few and short") {
    const auto labels = parse_labels({"dc=fra1", "rack=b 17=x", "A.b-c_9=\xc3\xa4"});
    REQUIRE(labels);
    CHECK(*labels == Labels{{"dc", "fra1"}, {"rack", "b 17=x"}, {"A.b-c_9", "\xc3\xa4"}});
    CHECK(parse_labels({})->empty());
    for (const auto* wrong : {"dc", "=x", "dc=", "9=x", "a b=x", "dc=a\nb", "dc=\x1b[2J", "_x=1"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_labels({wrong}));
    }
    CHECK(parse_labels({std::string(63, 'a') + "=" + std::string(63, 'b')}));
    CHECK_FALSE(parse_labels({std::string(64, 'a') + "=b"}));
    CHECK_FALSE(parse_labels({"a=" + std::string(64, 'b')}));
    CHECK(parse_labels({"dc=fra1", "dc=fra2"}).error().what == "--label dc: given twice");
    std::vector<std::string> many;
    for (int i = 0; i < 17; ++i)
        many.push_back("l" + std::to_string(i) + "=x");
    CHECK_FALSE(parse_labels(many));
    many.pop_back();
    CHECK(parse_labels(many)->size() == 16);
}

TEST_CASE("the size of a sample is read from the filters, where it is one") {
    CHECK(sample_of({}) == 1);
    CHECK(sample_of({{"sample", "16"}}) == 16);
    for (const auto* wrong : {"0", "-1", "x", "65537", ""})
        CHECK(sample_of({{"sample", wrong}}) == 1);
}
