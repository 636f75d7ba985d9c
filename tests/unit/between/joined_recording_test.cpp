// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/joined_recording.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <random>

#include "base/files.h"
#include "decode/record.h"
#include "decode/record_parser.h"
#include "recording/reader.h"
#include "service.h"

using namespace stapgen;
using namespace stapgen::between;

namespace {

/// What a recording of joined requests says: each record's texts and times, by field.
struct Reread final : decode::Sink {
    struct Row {
        std::map<std::string, std::string> raw;
        std::map<std::string, std::optional<std::int64_t>> ns;
    };
    std::vector<Row> rows;
    std::map<std::string, std::int64_t> counts;
    std::int64_t start_ns = 0, end_ns = 0;
    std::string host;

    void record(const decode::Record& record) override {
        auto& row = rows.emplace_back();
        for (std::size_t i = 0; i < record.values.size(); ++i) {
            const auto& value = record.values[i];
            const auto& field = record.schema->fields[i];
            row.raw[field.name] = value.raw;
            if (field.type == schema::FieldType::stage || field.type == schema::FieldType::time)
                row.ns[field.name] = value.seen ? std::optional(value.number) : std::nullopt;
        }
    }
    void line(const decode::Line& line) override {
        if (const auto* ready = std::get_if<decode::Ready>(&line)) start_ns = ready->epoch_ns;
        const auto* end = std::get_if<decode::End>(&line);
        if (end == nullptr) return;
        end_ns = end->epoch_ns;
        for (const auto& [key, value] : end->counts)
            counts[std::string(key)] = value;
    }
};

Reread joined(std::vector<Host> hosts) {
    const auto folder = base::PrivateDirectory::create().value();
    auto recording = JoinedRecording::create(folder.path() / "joined.rec", {"stapgen", "between"}).value();
    recording.set_hosts(hosts);
    const auto answer = stapgen::between::between(
        hosts, [&](const Result& result, const Request& request) { recording.add(result, request); });
    REQUIRE(recording.end(answer));
    auto reader = recording::Reader::open(folder.path() / "joined.rec").value();
    Reread reread;
    REQUIRE(reader.header());
    reread.host = reader.header()->setup.host;
    decode::RecordParser parser;
    for (auto lines = reader.next(); lines && !lines->empty(); lines = reader.next())
        CHECK(parser.take(*lines, reread) == lines->size());
    CHECK_FALSE(reader.cut_short());
    return reread;
}

std::int64_t ns(const Reread::Row& row, const char* stage) {
    return row.ns.at(stage).value_or(0);
}

void check_sums(const Reread::Row& row) {
    CHECK(ns(row, "ask") + ns(row, "between") + ns(row, "server") + ns(row, "reply") + ns(row, "read") ==
          ns(row, "total"));
    for (const auto& [stage, of] : row.ns)
        CHECK(of.value_or(0) >= 0);
    if (!row.ns.at("between.fastest") && !row.ns.at("between.forth") && !row.ns.at("between.back")) return;
    CHECK(ns(row, "between.fastest") + ns(row, "between.forth") + ns(row, "between.back") == ns(row, "between"));
}

}  // namespace

TEST_CASE("joined requests are records whose stages and parts add up, of IPv4 and of IPv6") {
    Service service;
    service.app.connections.push_back({"[fd09::1]:40001", "[fd09::2]:5432"});
    const auto began = service.now;
    service.ask(4'294'967'295, 2, {.rest = 5'000});
    for (std::uint32_t i = 0; i < 101; ++i)
        service.ask(i, i, {.forth = 31'000 + (i == 53 ? 7'000'000 : 0)});
    service.app.client.ends[1].connection = 1;
    service.app.client.ends[2].connection = no_connection;
    const auto reread = joined({service.app, service.db});
    REQUIRE(reread.rows.size() == 102);
    for (const auto& row : reread.rows)
        check_sums(row);
    CHECK(reread.host == "app1 and db1");
    CHECK(reread.start_ns == began);
    const auto& first = reread.rows.front();
    const std::map<std::string, std::string> texts{{"hosts", "app1 and db1"},
                                                   {"local", "0.ffff0a000001:40000"},
                                                   {"remote", "0.ffff0a090002:5432"},
                                                   {"seq", "4294967295"},
                                                   {"reply_seq", "2"},
                                                   {"match", "numbers"}};
    for (const auto& [field, text] : texts)
        CHECK(first.raw.at(field) == text);
    // It ends with the last of its stages.
    const std::map<std::string, std::optional<std::int64_t>> times{{"time", began + 404'000},
                                                                   {"ask", 11'000},
                                                                   {"between", 68'000},
                                                                   {"server", 307'000},
                                                                   {"reply", 5'000},
                                                                   {"read", 13'000},
                                                                   {"total", 404'000},
                                                                   {"between.fastest", 68'000},
                                                                   {"between.forth", std::nullopt},
                                                                   {"between.back", std::nullopt}};
    CHECK(first.ns == times);
    CHECK(reread.rows[1].raw.at("local") == "fd09000000000000.1:40001");
    CHECK(decode::endpoint_text(reread.rows[1].raw.at("remote")) == "[fd09::2]:5432");
    CHECK(reread.rows[2].raw.at("local") == "0.0:0");
    CHECK(reread.rows[54].ns.at("between.forth") == 7'000'000);
    CHECK(reread.rows[54].ns.at("between.fastest") == 68'000);
    CHECK_FALSE(reread.rows[54].ns.at("reply"));
    CHECK(reread.end_ns == reread.rows.back().ns.at("time"));
}

TEST_CASE("what clocks drift in a long request is in no way's part, and none is below 0") {
    Service service;
    std::mt19937 random(31);
    constexpr double drift = 100e-6;
    const auto began = service.now;
    std::vector<std::int64_t> late;
    for (std::uint32_t i = 0; i < 1009; ++i) {
        late.push_back(random() % 3 == 0 ? static_cast<std::int64_t>(random() % 1'000'000) : 0);
        service.ask(i, i, {.forth = 31'000 + late.back(), .served = 1'000'003 * (1 + i % 1009)});
        for (auto* time : {&service.db.server.ends.back().from, &service.db.server.ends.back().to})
            *time += static_cast<std::int64_t>(drift * static_cast<double>(*time - Service::ahead - began));
    }
    const auto reread = joined({service.app, service.db});
    REQUIRE(reread.rows.size() == late.size());
    for (std::size_t i = 0; i < reread.rows.size(); ++i) {
        const auto& row = reread.rows[i];
        check_sums(row);
        CHECK(std::abs(std::min(ns(row, "between.forth"), ns(row, "between")) - std::min(late[i], ns(row, "between"))) <
              1'000);
        CHECK(ns(row, "between.back") < 1'000);
    }
}

TEST_CASE("with one clock both ways are whole, and without any there are none") {
    Service service;
    service.ask(1, 1, {});
    auto both = service.app;
    both.server = service.db.server;
    for (auto& end : both.server.ends) {
        end.from -= Service::ahead;
        end.to -= Service::ahead;
    }
    const auto one = joined({both}).rows.front();
    check_sums(one);
    CHECK(one.ns.at("between.forth") == 31'000);
    CHECK(one.ns.at("between.back") == 37'000);
    CHECK_FALSE(one.ns.at("between.fastest"));
    for (std::uint32_t i = 2; i < 99; ++i)
        service.ask(i, i, {});
    // The server's clock was set.
    for (std::size_t i = 50; i < service.db.server.ends.size(); ++i) {
        service.db.server.ends[i].from += 1'000'000'000;
        service.db.server.ends[i].to += 1'000'000'000;
    }
    for (const auto& row : joined({service.app, service.db}).rows) {
        check_sums(row);
        CHECK(ns(row, "between") == 68'000);
        CHECK_FALSE(row.ns.at("between.forth"));
    }
}

TEST_CASE("of a client that is a capture nothing inside is known") {
    Service service;
    service.ask(1, 2, {.before = 0, .rest = 5'000, .after = 0});
    service.app.capture = std::exchange(service.app.client, {});
    const auto row = joined({service.app, service.db}).rows.front();
    check_sums(row);
    CHECK_FALSE(row.ns.at("ask"));
    CHECK_FALSE(row.ns.at("read"));
    CHECK(row.ns.at("reply") == 5'000);
    CHECK(row.ns.at("total") == 380'000);
}

TEST_CASE("the account has each request of a client once, also where it asks two servers") {
    Service service;
    for (std::uint32_t i = 0; i < 100; ++i)
        service.ask(i, i, {});
    auto other = service.db;
    other.name = other.file = "db\\2\t";
    other.server.ends.assign(service.db.server.ends.begin() + 60, service.db.server.ends.begin() + 90);
    service.db.server.ends.resize(50);
    service.db.server.ends.push_back({.seq = 1'000, .reply_seq = 1'000, .connection = 0, .from = 1, .to = 2});
    service.app.not_measured = {{"overlapping", 7}};
    service.db.not_measured = {{"unanswered", 3}};
    const auto reread = joined({service.app, service.db, other});
    const std::map<std::string, std::int64_t> counts{{"seen", 107},
                                                     {"reported", 80},
                                                     {"incomplete.not-at-server", 20},
                                                     {"incomplete.overlapping", 7},
                                                     {"incomplete.same-numbers", 0},
                                                     {"incomplete.longer-at-server", 0},
                                                     {"not-at-client", 1},
                                                     {"unanswered-at-server", 3}};
    CHECK(reread.counts == counts);
    CHECK(reread.rows.front().raw.at("hosts") == "app1 and db1");
    CHECK(decode::unescape(reread.rows.back().raw.at("hosts")) == "app1 and db\\2\\x09");
}

TEST_CASE("what a server has of two clients is not missing at either") {
    Service service;
    for (std::uint32_t i = 0; i < 100; ++i)
        service.ask(i, i, {});
    auto other = service.app;
    other.name = other.file = "app2";
    other.client.ends.assign(service.app.client.ends.begin() + 60, service.app.client.ends.begin() + 90);
    service.app.client.ends.resize(50);
    const auto counts = joined({service.app, other, service.db}).counts;
    CHECK(counts.at("seen") == 80);
    CHECK(counts.at("incomplete.not-at-server") == 0);
    CHECK(counts.at("not-at-client") == 20);
}

TEST_CASE("times at the ends of what a clock can say are joined, and add up") {
    Service service;
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, end_of_time - 10}) {
        const auto seq = static_cast<std::uint32_t>(at);
        service.app.client.ends.push_back({.seq = seq, .connection = 0, .from = at, .to = at + 9});
        const auto there = end_of_time - 10 - at;
        service.db.server.ends.push_back({.seq = seq, .connection = 0, .from = there, .to = there + 3});
    }
    const auto reread = joined({service.app, service.db});
    CHECK(reread.rows.size() == 4);
    for (const auto& row : reread.rows)
        check_sums(row);
}
