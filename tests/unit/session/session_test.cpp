// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/files.h"
#include "decode/record_parser.h"
#include "session/namer.h"
#include "session/replay.h"
#include "unit/rows.h"

using namespace stapgen;

namespace {

const std::vector<std::string> lines{
    "stapgen\t2\tdropwatch\tdrop\ttime:time\tlocation:address\treason:reason\tcount:count",
    "ready\t1795205723413791752\t1000",
    "drop\t2000\tffffffffa5b3a20a\t3\t17",
    "drop\t3000\tffffffffc0a31011\t4\t19",
    "noise",
    "end\t1795205724661541936\tseen=36\treported=36",
};

recording::RunFacts some_facts() {
    recording::RunFacts facts;
    facts.setup.host = "web17";
    facts.setup.kernel.release = "6.12.117";
    facts.setup.filters = {{"port", "80"}, {"sample", "8"}};
    facts.setup.drop_reasons = {{3, "NO_SOCKET"}};
    facts.outcome.transport = {5, 7, 11, 13, {{"tcp_v4_rcv", 2}}};
    facts.outcome.broke_off = "it was killed";
    facts.outcome.clock_set_ns = -17;
    facts.outcome.suspended_ns = 19;
    facts.outcome.counters = {{"TcpExt.ListenDrops", "lost", 23}};
    facts.outcome.clock = {2.5e9, 29, 4, 31};
    facts.outcome.addresses = {{0xffffffffc0a31011, "nft_do_chain", 0x11, "nf_tables"}};
    return facts;
}

/// As a module's lines come.
void feed(decode::RecordParser& parser, session::Session& session) {
    for (const auto& line : lines)
        session.add(parser.feed(line));
}

void check(const summaries::Summary& summary) {
    const auto facts = some_facts();
    CHECK(summary.recipe == "dropwatch");
    CHECK(summary.origins == std::vector{facts.setup.origin()});
    CHECK(summary.transport.transport_failures == 11);
    CHECK(summary.transport.enough_buffer_mb == 13);
    CHECK(summary.transport.skipped_by.at(0).name == "tcp_v4_rcv");
    CHECK(summary.broke_off == "it was killed");
    CHECK(summary.clock_set_ns == -17);
    CHECK(summary.suspended_ns == 19);
    CHECK(summary.counters == facts.outcome.counters);
    CHECK(summary.cost.measured_ns == 29);
    CHECK(summary.cost.expected_hits == 31);
    CHECK(summary.sample.one_in == 8);
    CHECK(summary.sample.estimated == 8 * 36);
    REQUIRE(summary.drops.size() == 2);
    CHECK(summary.drops[0].count == 19);
    CHECK(summary.drops[0].place.symbol == "nft_do_chain");
    CHECK(summary.drops[0].place.module == "nf_tables");
    CHECK(summary.drops[1].reason.name == "NO_SOCKET");
    CHECK_FALSE(summary.drops[1].place.symbol);
}

}  // namespace

TEST_CASE("a session is the same whoever feeds it: a parser, or the recording of it") {
    const session::Presentation presentation;
    decode::RecordParser parser;
    session::Session session(presentation, {});
    feed(parser, session);
    session.set(some_facts().setup);
    session.set(some_facts().outcome);
    auto measured = session.measured();
    session::Namer namer{symbols::NameSources{}};
    REQUIRE(namer.put_into(measured, session.facts()));
    check(summaries::summary_of(measured));

    recording::Header header;
    header.setup = some_facts().setup;
    auto text = recording::header_line(header);
    for (const auto& line : lines)
        text += line + "\n";
    text += recording::trailer_line({.outcome = some_facts().outcome});
    const auto folder = base::PrivateDirectory::create().value();
    const auto file = folder.path() / "drops.rec";
    REQUIRE(base::create_file(file, text));
    const auto read = session::load({file}, presentation, {});
    REQUIRE(read);
    REQUIRE(read->size() == 1);
    check(summaries::summary_of(read->front()));
    CHECK(read->front().input.unrecognised == 1);
}

TEST_CASE("each line from the header on is taken, and none of a session that is refused") {
    const session::Presentation presentation;
    const auto results_of = [&](session::Session& session) {
        decode::RecordParser parser;
        std::vector<session::Added> results{session.add(parser.feed("before"))};
        for (const auto& line : lines)
            results.push_back(session.add(parser.feed(line)));
        return results;
    };
    session::Session session(presentation, {.keep_intervals = true});
    const auto taken = results_of(session);
    CHECK_FALSE(taken.front().taken);
    CHECK(std::ranges::count_if(taken, &session::Added::taken) == std::ssize(lines));
    CHECK(std::ranges::none_of(taken, &session::Added::refused));
    // The last line closes the one interval.
    for (const auto& added : taken)
        CHECK(added.interval.has_value() == (&added == &taken.back()));
    CHECK(taken.back().interval->accounting.reported == 36);

    session::Session events(presentation, {.events = true});
    const auto refused = results_of(events);
    CHECK(std::ranges::none_of(refused, &session::Added::taken));
    CHECK(std::ranges::count_if(refused, &session::Added::refused) == 1);
    CHECK(refused.at(1).refused);
    REQUIRE(events.refusal());
    CHECK(events.refusal()->what == "--events: the records of this recipe are counts");
    CHECK_FALSE(events.analyzer());
}

TEST_CASE("in whatever order recordings come, those of one definition are added and no others") {
    const auto folder = base::PrivateDirectory::create().value();
    // Two definitions by filters, one by functions; none is a fourth.
    const std::vector<std::string> definitions{"aa", "bb", "", "aa", "cc", "bb", "", "aa"};
    std::vector<std::filesystem::path> files;
    std::map<std::string, std::int64_t> counts;
    for (std::size_t i = 0; i < definitions.size(); ++i) {
        recording::Header header;
        header.run_id = std::to_string(i);
        header.setup.host = "web" + std::to_string(i);
        header.setup.definition = definitions[i];
        const std::int64_t count = std::int64_t{1} << (4 * i);
        counts[definitions[i]] += count;
        auto text = recording::header_line(header);
        text += lines[0] + "\n" + lines[1] + "\n";
        text += "drop\t2000\tffffffffa5b3a20a\t3\t" + std::to_string(count) + "\n";
        text +=
            "end\t1795205724661541936\tseen=" + std::to_string(count) + "\treported=" + std::to_string(count) + "\n";
        text += recording::trailer_line({});
        files.push_back(folder.path() / (std::to_string(i) + ".rec"));
        REQUIRE(base::create_file(files.back(), text));
    }
    std::mt19937 random(17);
    for (int trial = 0; trial < 50; ++trial) {
        std::ranges::shuffle(files, random);
        const auto read = session::load(files, {}, {});
        REQUIRE(read);
        REQUIRE(read->size() == counts.size());
        std::size_t apart = 0;
        for (const auto& summary : *read) {
            CHECK(summary.accounting.reported == counts.at(summary.definition()));
            CHECK(std::ranges::all_of(summary.origins, [&](const recording::Origin& origin) {
                return origin.definition == summary.definition();
            }));
            apart += summary.merge_conflict.empty() ? 0 : 1;
        }
        CHECK(apart == counts.size() - 1);
    }
}
