// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "analyze/names.h"
#include "summary_of.h"

using namespace stapgen::analyze;
using namespace stapgen::summaries;

namespace {

constexpr const char* drop_records =
    "stapgen\t4\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count\tnetns:int,key\tport:int,key\n"
    "ready\t1000000000\t5\n"
    "drop\tffffffff81000010\t3\t101\t4026532201\t53\n"
    "drop\tffffffff81000010\t3\t103\t4026532202\t53\n"
    "drop\tffffffff81000010\t3\t7\t4026532303\t53\n"
    "drop\tffffffff81000020\t3\t11\t4026532201\t80\n"
    "tick\t2000000000\tseen=222\treported=222\n"
    "drop\tffffffff81000010\t3\t13\t4026532201\t53\n"
    "end\t3000000000\tseen=235\treported=235\n";

constexpr const char* stage_records =
    "stapgen\t4\trx-latency\trx\ttime:time\ttcp-app:stage\tnetns:int,key\n"
    "ready\t1000000000\t5\n"
    "rx\t1000000001\t17\t4026532201\nrx\t1000000002\t19\t4026532202\nrx\t1000000003\t23\t4026532303\n"
    "rx\t1000000004\t29\t4026532303\nrx\t1000000005\t31\t4026532202\n"
    "end\t3000000000\tseen=5\treported=5\n";

/// Two namespaces have one name, as where a container was started again.
std::optional<std::string> name_of(const Group& /*group*/, const GroupField& field) {
    const auto* number = std::get_if<std::int64_t>(&field.value);
    if (field.key != "netns" || number == nullptr) return std::nullopt;
    return *number == 4026532303 ? "blue" : "red";
}

}  // namespace

TEST_CASE("drops are grouped by what stands behind place, reason and count") {
    const auto summary = summary_of(drop_records, {"netns", "port"});
    REQUIRE(summary.drops.size() == 5);
    CHECK(summary.drops[0].count == 103);
    CHECK(summary.drops[0].group == Group{{"netns", 4026532202}, {"port", 53}});
    const auto totals = total<rows::Drop>(summary);
    REQUIRE(totals.size() == 4);
    CHECK(totals[0].count == 114);
    CHECK(totals[0].group == Group{{"netns", 4026532201}, {"port", 53}});
    CHECK(total<rows::Drop>(summary_of(drop_records, {"port"})).size() == 2);
    const auto alone = total<rows::Drop>(summary_of(drop_records, {}));
    REQUIRE(alone.size() == 2);
    CHECK(alone[0].count == 224);
    CHECK(alone[0].group.empty());
}

TEST_CASE("what has one name is one group, of drops in each interval") {
    auto summary = summary_of(drop_records, {"netns", "port"});
    name_groups(summary, name_of);
    REQUIRE(summary.drops.size() == 4);
    CHECK(summary.drops[0].count == 204);
    CHECK(summary.drops[0].group == Group{{"netns", "red"}, {"port", 53}});
    CHECK(summary.drops[1].count == 11);
    CHECK(summary.drops[2].group == Group{{"netns", "blue"}, {"port", 53}});
    CHECK(summary.drops[3].interval == 1);
    CHECK(sum_of(total<rows::Drop>(summary)) == 235);
}

TEST_CASE("what has one name is one group, of stages, the largest first, and of the slowest records") {
    auto summary = summary_of(stage_records, {"netns"});
    name_groups(summary, name_of);
    REQUIRE(summary.stages.size() == 3);
    CHECK(summary.stages[0].group.empty());
    CHECK(summary.stages[0].stats.n() == 5);
    CHECK(summary.stages[1].group == Group{{"netns", "red"}});
    CHECK(summary.stages[1].stats.n() == 3);
    CHECK(summary.stages[1].stats.max() == 31);
    CHECK(summary.stages[2].group == Group{{"netns", "blue"}});
    CHECK(summary.stages[2].stats.n() == 2);
    const auto slowest = summary.breakdowns.front().slowest();
    REQUIRE(!slowest.empty());
    CHECK(slowest.front().total_ns == 31);
    CHECK(slowest.front().of == Group{{"netns", "red"}});
}
