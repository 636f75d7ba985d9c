// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/drops/advice.h"
#include "symbols/drop_reason_table.h"
#include "unit/rows.h"

using stapgen::summaries::Drop;
using namespace stapgen::kinds::drops;

namespace {

Drop drop(std::optional<std::string> symbol, std::optional<std::string> reason, std::int64_t count = 17) {
    Drop drop;
    drop.place.symbol = std::move(symbol);
    drop.reason.name = std::move(reason);
    drop.reason.number = drop.reason.name ? 3 : -1;
    drop.count = count;
    return drop;
}

DropAdvice advice_of(const Drop& drop) {
    return stapgen::kinds::drops::advice_of(drop.place, drop.reason);
}

std::set<std::string_view> names_of(const stapgen::symbols::LinuxVersion& version) {
    const auto table = stapgen::symbols::reason_table(version);
    REQUIRE(table);
    return {table->names.begin(), table->names.end()};
}

/// Those of all releases that are known.
std::set<std::string_view> known_reasons() {
    std::set<std::string_view> names;
    for (unsigned minor = 17; minor < 20; ++minor)
        names.merge(names_of({5, minor, 0}));
    for (const unsigned major : {6U, 7U}) {
        for (unsigned minor = 0; minor < 20; ++minor) {
            // Stable releases have other ones.
            for (const unsigned patch : {0U, 999U})
                names.merge(names_of({major, minor, patch}));
        }
    }
    return names;
}

}  // namespace

TEST_CASE("every reason of every release has advice, and all advice is of such a reason") {
    auto reasons = known_reasons();
    // No packet is dropped with these.
    for (const auto none : {"NOT_DROPPED_YET", "CONSUMED"})
        CHECK(reasons.erase(none) == 1);
    CHECK(reasons.size() > 133);
    for (const auto reason : reasons) {
        CAPTURE(reason);
        CHECK_FALSE(advice_of(drop("ip_rcv", std::string(reason))).text.empty());
    }
    for (const auto& known : known_drops())
        CHECK_MESSAGE(reasons.contains(known.reason), known.reason);
}

TEST_CASE("what is known is in order, once, and each advice one line that fits a ticket") {
    const auto key = [](const DropAdvice& known) { return std::pair(known.function, known.reason); };
    const auto known = known_drops();
    CHECK(std::ranges::is_sorted(known, std::ranges::less_equal{}, key));
    for (const auto& [reason, text, function, benign] : known) {
        INFO(function, " ", reason);
        CHECK(text.size() > 29);
        CHECK(text.size() <= 110);
        CHECK(text.find_first_of("\n|<") == std::string_view::npos);
        CHECK_FALSE(text.ends_with('.'));
        // A reason alone never tells that nothing was lost.
        CHECK_FALSE((benign && function.empty()));
    }
}

TEST_CASE("place and reason together are benign where one of them alone is not") {
    CHECK(advice_of(drop("sk_stream_kill_queues", "QUEUE_PURGE")).benign);
    CHECK_FALSE(advice_of(drop("inet_sock_destruct", "QUEUE_PURGE")).benign);
    CHECK_FALSE(advice_of(drop("skb_queue_purge_reason", "QUEUE_PURGE")).benign);
    CHECK_FALSE(advice_of(drop("sk_stream_kill_queues", "NOMEM")).benign);
    CHECK(advice_of(drop("icmp_rcv", "NO_SOCKET")).benign);
    CHECK(advice_of(drop("ping_rcv", "NO_SOCKET")).benign);
    CHECK_FALSE(advice_of(drop("tcp_v4_rcv", "NO_SOCKET")).benign);
    CHECK_FALSE(advice_of(drop("icmp_rcv", "ICMP_CSUM")).benign);
    CHECK_FALSE(advice_of(drop(std::nullopt, "NO_SOCKET")).benign);
    CHECK(advice_of(drop(std::nullopt, "NO_SOCKET")).text.starts_with("nobody listens there"));
}

TEST_CASE("before there were reasons the place alone counts, and an unspecified reason is like none") {
    CHECK(advice_of(drop("unix_stream_recvmsg", std::nullopt)).benign);
    CHECK(advice_of(drop("unix_stream_connect", "NOT_SPECIFIED")).benign);
    CHECK(advice_of(drop("ip_rcv", "NOT_SPECIFIED")).function.empty());
    CHECK(advice_of(drop("ip_rcv", std::nullopt)).text.empty());
    CHECK(advice_of(drop(std::nullopt, std::nullopt)).text.empty());
    CHECK(advice_of(drop("", std::nullopt)).text.empty());
    CHECK(advice_of(drop("unix_stream_recvmsg", "NEW_REASON")).text.empty());
    CHECK(advice_of(drop("unix_stream_recvmsg", "")).text.empty());
}

TEST_CASE("a reason without a name could be any: nothing is said of it") {
    auto unnamed = drop("unix_stream_recvmsg", std::nullopt);
    unnamed.reason.number = 77;
    CHECK_FALSE(advice_of(unnamed).benign);
    CHECK(advice_of(unnamed).text.empty());
}

TEST_CASE("what a compiler appends to a function's name is no part of it") {
    for (const auto* symbol : {"icmp_rcv.cold", "icmp_rcv.isra.0", "icmp_rcv.constprop.0.cold", "icmp_rcv.part.19"})
        CHECK_MESSAGE(advice_of(drop(symbol, "NO_SOCKET")).benign, symbol);
    CHECK_FALSE(advice_of(drop("icmp_rcv_more", "NO_SOCKET")).benign);
    CHECK_FALSE(advice_of(drop(".cold", "NO_SOCKET")).benign);
}

TEST_CASE("advice is given once for all drops that it is for, that for the most first") {
    stapgen::summaries::Summary summary;
    summary.drops = {drop("tcp_v4_rcv", "NO_SOCKET", 23), drop("sk_stream_kill_queues", "QUEUE_PURGE", 31),
                     drop("udp_rcv", "NO_SOCKET", 19), drop("ip_rcv", std::nullopt, 997),
                     drop("unix_stream_recvmsg", std::nullopt, 7)};
    const auto results = stapgen::summaries::results_of(summary);
    const auto& advice = results.of<stapgen::rows::Advice>();
    REQUIRE(advice.size() == 3);
    CHECK(advice[0].reason == "NO_SOCKET");
    CHECK_FALSE(advice[0].function);
    CHECK(advice[0].count == 42);
    CHECK(advice[1].reason == "QUEUE_PURGE");
    CHECK(advice[1].function == "sk_stream_kill_queues");
    CHECK(advice[1].count == 31);
    CHECK_FALSE(advice[2].reason);
    CHECK(advice[2].function == "unix_stream_recvmsg");
    CHECK(advice[2].benign);
}

TEST_CASE("hidden rows are counted") {
    stapgen::summaries::Summary summary;
    summary.drops = {drop("sk_stream_kill_queues", "QUEUE_PURGE", 31), drop("udp_rcv", "NO_SOCKET", 19),
                     drop("icmp_rcv", "NO_SOCKET", 5)};
    CHECK(stapgen::summaries::results_of(summary).of<stapgen::rows::Drop>().size() == 3);
    const auto some = stapgen::summaries::results_of(summary, {.hide_benign = true});
    REQUIRE(some.of<stapgen::rows::Drop>().size() == 1);
    CHECK(some.of<stapgen::rows::Drop>().front().count == 19);
}
