// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text.h"
#include "decode/record_parser.h"
#include "session/presentation.h"

using namespace stapgen;
using nlohmann::json;

namespace {

constexpr std::string_view header =
    "stapgen\t2\trx-latency\trx\ttime:time\tcpu:int\tcomm:text\tlocal:endpoint\tbytes:value\tdrv-ip:stage\tip-tcp:"
    "stage";
constexpr std::string_view ready = "ready\t1795180000000000000\t5000000000";

/// What is written for these lines; `end` at the end.
struct EventRun {
    std::ostringstream out;
    decode::RecordParser parser;
    std::unique_ptr<show::RecordWriter> writer;

    explicit EventRun(std::string_view format) : writer(show::format_named(format).records(out, {})) {
        setenv("TZ", "UTC", 1);
        tzset();
        feed(header);
    }
    void feed(std::string_view text) {
        // Gone when the next line is fed, as in a real run.
        const std::string line(text);
        const auto parsed = parser.feed(line);
        if (const auto* record = std::get_if<decode::Record>(&parsed)) writer->record(*record);
        if (const auto* clocks = std::get_if<decode::Ready>(&parsed)) writer->ready(*clocks);
    }
    std::vector<json> objects() {
        std::vector<json> all;
        const auto text = out.str();
        for (const auto line : base::split(base::trim(text), '\n'))
            all.push_back(json::parse(line));
        return all;
    }
};

}  // namespace

TEST_CASE("events before the ready line wait for its clocks, and are not lost where it never comes") {
    for (const bool comes : {true, false}) {
        EventRun run("ndjson");
        run.feed("rx\t4999999999\t1\tfirst\t0.1:80\t1\t1\t1");
        run.feed("rx\t4999999998\t2\tsecond\t0.1:80\t1\t1\t1");
        CHECK(run.out.str().empty());
        if (comes) run.feed(ready);
        run.writer->end();
        const auto objects = run.objects();
        REQUIRE(objects.size() == 2);
        CHECK(objects[0]["comm"] == "first");
        CHECK(objects[1]["comm"] == "second");
        CHECK(objects[0]["time_ns"] == (comes ? json(1795179999999999999) : json(nullptr)));
    }
    EventRun table("table");
    table.feed("rx\t4999999999\t1\tfirst\t0.1:80\t1\t1\t1");
    table.writer->end();
    CHECK(table.out.str().find("\n              -      1 first") != std::string::npos);
}

TEST_CASE("the heading of events is repeated behind a report, and where records of another kind come") {
    EventRun run("table");
    run.feed(ready);
    run.writer->interrupt();
    CHECK(run.out.str().empty());
    run.feed("fields\tirq\tnr:int");
    for (const auto* line : {"irq\t5", "irq\t6"})
        run.feed(line);
    run.writer->interrupt();
    run.feed("irq\t7");
    run.feed("rx\t5000000007\t3\tx\t0.1:80\t1\t1\t1");
    run.feed("irq\t8");
    std::string first_words;
    const auto text = run.out.str();
    for (const auto line : base::split(text, '\n'))
        first_words += line.empty() ? "|" : std::string(base::words(line).front()) + " ";
    CHECK(first_words == "NR 5 6 ||NR 7 |TIME 13:06:40.000000 |NR 8 |");
}
