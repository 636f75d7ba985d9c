// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <protozero/pbf_message.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "decode/record_parser.h"
#include "session/presentation.h"

using namespace stapgen;

namespace {

constexpr std::string_view flow_header =
    "stapgen\t3\tpacket-flow\tpacket\ttime:time\tway:text\tcpu:int\tpid:int\ttid:int\tcomm:text\tlocal:endpoint\t"
    "remote:endpoint\tbytes:int\tirq-raise:stage,cpu\tdrv-ip:stage,cpu\ttcp-queue:stage\twake-run:stage,thread\t"
    "total:stage";
constexpr std::string_view call_header =
    "stapgen\t3\tcall-trace\tcall\ttime:time\tcpu:int\ttid:int\tcomm:text\tdepth:int,depth\tfunction:text\t"
    "took:stage,thread";

struct Slice {
    std::string track, name;
    std::uint64_t begin = 0, end = 0, flow = 0, depth = 0;
    std::map<std::string, std::string> about{};
};

/// What is in the bytes of a trace, the events sorted as Perfetto does.
class Trace {
  public:
    std::map<std::uint64_t, std::string> tracks;  ///< names, with those of their parents before
    std::vector<Slice> slices, instants;
    std::map<std::uint64_t, std::uint64_t> clocks;

    explicit Trace(const std::string& bytes) {
        protozero::pbf_reader trace(bytes);
        while (trace.next(1))
            packet(trace.get_message());
        std::ranges::stable_sort(events_, {}, &Event::time);
        std::map<std::uint64_t, std::vector<std::size_t>> open;
        for (const auto& event : events_) {
            auto& stack = open[event.track];
            if (event.type == 2) {
                REQUIRE_FALSE(stack.empty());
                slices[stack.back()].end = event.time;
                stack.pop_back();
                continue;
            }
            Slice slice{tracks.at(event.track), event.name, event.time, event.time, event.flow,
                        stack.size(),           event.about};
            if (event.type == 3) {
                instants.push_back(slice);
                continue;
            }
            stack.push_back(slices.size());
            slices.push_back(slice);
        }
        for (const auto& [track, stack] : open)
            CHECK(stack.empty());
    }

    [[nodiscard]] std::vector<Slice> on(std::string_view track) const {
        std::vector<Slice> found;
        std::ranges::copy_if(slices, std::back_inserter(found),
                             [&](const Slice& slice) { return slice.track.find(track) != std::string::npos; });
        return found;
    }

  private:
    struct Event {
        std::uint64_t time = 0, track = 0, flow = 0;
        int type = 0;
        std::string name{};
        std::map<std::string, std::string> about{};
    };

    void packet(protozero::pbf_reader from) {
        std::uint64_t time = 0;
        while (from.next()) {
            if (from.tag() == 6) {
                for (auto snapshot = from.get_message(); snapshot.next();) {
                    if (snapshot.tag() != 1) {
                        snapshot.skip();
                        continue;
                    }
                    auto clock = snapshot.get_message();
                    REQUIRE(clock.next(1));
                    const auto id = clock.get_uint32();
                    REQUIRE(clock.next(2));
                    clocks[id] = clock.get_uint64();
                }
            } else if (from.tag() == 8) {
                time = from.get_uint64();
            } else if (from.tag() == 11) {
                event(from.get_message(), time);
            } else if (from.tag() == 60) {
                track(from.get_message());
            } else {
                from.skip();
            }
        }
    }

    void track(protozero::pbf_reader from) {
        std::uint64_t id = 0;
        std::string parent, name;
        while (from.next()) {
            if (from.tag() == 1) {
                id = from.get_uint64();
            } else if (from.tag() == 2) {
                name = from.get_string();
            } else if (from.tag() == 4) {
                auto thread = from.get_message();
                REQUIRE(thread.next(2));
                name = fmt::format("thread {}", thread.get_int32());
                REQUIRE(thread.next(5));
                name += " " + thread.get_string();
            } else if (from.tag() == 5) {
                parent = tracks.at(from.get_uint64()) + "/";
            } else {
                from.skip();
            }
        }
        CHECK(tracks.emplace(id, parent + name).second);
    }

    void event(protozero::pbf_reader from, std::uint64_t time) {
        auto& event = events_.emplace_back(Event{.time = time});
        while (from.next()) {
            if (from.tag() == 4) {
                std::string name, value;
                for (auto annotation = from.get_message(); annotation.next();) {
                    if (annotation.tag() == 10) {
                        name = annotation.get_string();
                    } else if (annotation.tag() == 4) {
                        value = fmt::format("{}", annotation.get_int64());
                    } else {
                        value = annotation.get_string();
                    }
                }
                event.about[name] = value;
            } else if (from.tag() == 9) {
                event.type = from.get_enum();
            } else if (from.tag() == 11) {
                event.track = from.get_uint64();
            } else if (from.tag() == 23) {
                event.name = from.get_string();
            } else {
                REQUIRE(from.tag() == 47);
                event.flow = from.get_fixed64();
            }
        }
    }

    std::vector<Event> events_;
};

/// What is drawn for these lines.
struct TraceRun {
    std::ostringstream out;
    decode::RecordParser parser;
    std::unique_ptr<show::RecordWriter> writer = show::format_named("perfetto").records(out, {});
    std::vector<std::string> missing;

    explicit TraceRun(std::string_view first_line) { feed(first_line); }
    void feed(std::string_view text) {
        const std::string line(text);
        const auto parsed = parser.feed(line);
        REQUIRE_FALSE(std::holds_alternative<decode::Unrecognised>(parsed));
        if (const auto* record = std::get_if<decode::Record>(&parsed)) writer->record(*record);
        if (const auto* clocks = std::get_if<decode::Ready>(&parsed)) writer->ready(*clocks);
    }
    Trace trace() {
        missing = writer->end();
        return Trace(out.str());
    }
};

constexpr std::string_view one_packet =
    "packet\t100000\trx\t3\t186\t190\tmc-worker\t0.ffff0a000001:11211\t0.ffff0a000002:4001\t101\t1009\t2003\t30011\t"
    "4001\t37024";

}  // namespace

TEST_CASE("a record's stages are slices of a track of its own, and the last ends at its time") {
    TraceRun run(flow_header);
    run.feed("ready\t1795180000000000000\t5000");
    run.feed(one_packet);
    const auto trace = run.trace();
    const auto own =
        trace.on("records packet/#1 rx 10.0.0.2:4001 > 10.0.0.1:11211, cpu 3, pid 186, mc-worker/190, 101 bytes");
    REQUIRE(own.size() == 4);
    CHECK(own[0].name == "irq-raise");
    CHECK(own[0].begin == 100000 - 4001 - 30011 - 2003 - 1009);
    CHECK(own[1].name == "drv-ip");
    CHECK(own[1].begin == own[0].end);
    CHECK(own[3].name == "wake-run");
    CHECK(own[3].end == 100000);
    CHECK(own[0].about.at("remote") == "10.0.0.2:4001");
    CHECK(own[0].about.at("bytes") == "101");
    CHECK(own[1].about.empty());
    CHECK(run.missing.empty());
    CHECK(trace.clocks == std::map<std::uint64_t, std::uint64_t>{{1, 1795180000000000000}, {3, 5000}});
}

TEST_CASE("a stage that a CPU or a thread spent is on its track, too, and one flow goes through all of them") {
    TraceRun run(flow_header);
    run.feed(one_packet);
    const auto trace = run.trace();
    const auto cpu = trace.on("CPUs/CPU 3");
    REQUIRE(cpu.size() == 2);
    CHECK(cpu[1].name == "drv-ip");
    CHECK(cpu[1].end - cpu[1].begin == 2003);
    const auto thread = trace.on("thread 190 mc-worker");
    REQUIRE(thread.size() == 1);
    CHECK(thread[0].end == 100000);
    for (const auto& slice : trace.slices)
        CHECK(slice.flow == 1);
    CHECK(trace.slices.size() == 7);
}

TEST_CASE("what overlaps on a CPU is on tracks of one name, and what does not is on one") {
    TraceRun run(flow_header);
    // Two at the same time, and one that begins when the first has ended.
    run.feed("packet\t100000\trx\t3\t1\t2\tx\t0.1:1\t0.1:2\t7\t1000\t-\t-\t-\t-");
    run.feed("packet\t100500\trx\t3\t1\t2\tx\t0.1:1\t0.1:2\t7\t1000\t-\t-\t-\t-");
    run.feed("packet\t101000\trx\t3\t1\t2\tx\t0.1:1\t0.1:2\t7\t1000\t-\t-\t-\t-");
    const auto trace = run.trace();
    const auto cpu = trace.on("CPUs/CPU 3");
    REQUIRE(cpu.size() == 3);
    for (const auto& slice : cpu) {
        CHECK(slice.depth == 0);
        CHECK(slice.end - slice.begin == 1000);
    }
    CHECK(std::ranges::count_if(trace.tracks, [](const auto& one) { return one.second == "CPUs/CPU 3"; }) == 2);
}

TEST_CASE("a slice that is alone has no flow, and a record without stages is an instant") {
    TraceRun run(flow_header);
    run.feed("packet\t100\trx\t3\t1\t2\tx\t0.1:1\t0.1:2\t7\t-\t-\t11\t-\t-");
    run.feed("packet\t103\trx\t3\t1\t2\tx\t0.1:1\t0.1:2\t7\t-\t-\t-\t-\t-");
    const auto trace = run.trace();
    REQUIRE(trace.slices.size() == 1);
    CHECK(trace.slices[0].flow == 0);
    REQUIRE(trace.instants.size() == 1);
    CHECK(trace.instants[0].begin == 103);
    CHECK(trace.instants[0].about.at("bytes") == "7");
}

TEST_CASE("calls are inside of the calls above them, however they are ordered in the text") {
    TraceRun run(call_header);
    // outer 1000..2000 has inner 1000..1500 and inner 1500..1900; the next outer begins where the first ends.
    run.feed("call\t1500\t1\t190\tmc-worker\t1\ttcp_rcv\t500");
    run.feed("call\t1900\t1\t190\tmc-worker\t1\ttcp_ack\t400");
    run.feed("call\t2000\t1\t190\tmc-worker\t0\tip_rcv\t1000");
    run.feed("call\t2300\t1\t190\tmc-worker\t0\tip_out\t300");
    const auto trace = run.trace();
    const auto calls = trace.on("thread 190");
    REQUIRE(calls.size() == 4);
    CHECK(calls[0].name == "ip_rcv");
    CHECK(calls[0].depth == 0);
    CHECK(calls[0].begin == 999);  // to be told from the call in it
    CHECK(calls[0].end == 2000);
    CHECK(calls[1].name == "tcp_rcv");
    CHECK(calls[1].depth == 1);
    CHECK(calls[1].end == 1500);
    CHECK(calls[2].depth == 1);
    CHECK(calls[3].name == "ip_out");
    CHECK(calls[3].depth == 0);
    CHECK(calls[3].about.at("cpu") == "1");
    CHECK(calls[3].about.count("depth") == 0);
}

TEST_CASE("what is not drawn is reported, in the trace, too") {
    TraceRun drops("stapgen\t3\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count");
    drops.feed("drop\tffffffff8a13a20a\t3\t17");
    const auto trace = drops.trace();
    REQUIRE(drops.missing.size() == 1);
    CHECK(drops.missing[0] == "1 of 1 records are not in the trace: they have no time");
    REQUIRE(trace.instants.size() == 1);
    CHECK(trace.instants[0].name == drops.missing[0]);

    TraceRun many("stapgen\t3\trx-latency\trx\ttime:time\tdrv-ip:stage");
    constexpr std::int64_t records = 10'007;
    for (std::int64_t i = 0; i < records; ++i)
        many.feed(fmt::format("rx\t{}\t101", 1000 * i));
    const auto first = many.trace();
    REQUIRE(many.missing.size() == 1);
    CHECK(first.slices.size() == 9'996);
    CHECK(many.missing[0] == "11 of 10,007 records are not in the trace: its limits are 10,000 tracks and 256 MB");
}

TEST_CASE("times that make no sense and names of any bytes are drawn all the same") {
    TraceRun run(flow_header);
    run.feed(
        "packet\t5\t\\033[31m\t-9223372036854775808\t-1\t9223372036854775807\t\xff\xfe\t0.1:1\t0.1:"
        "2\t7\t9223372036854775807\t"
        "9223372036854775807\t1\t9223372036854775807\t-");
    const auto trace = run.trace();
    REQUIRE(trace.slices.size() == 7);
    for (const auto& slice : trace.slices)
        CHECK(slice.end <= 5);
    for (const auto& [id, name] : trace.tracks) {
        CHECK(name.find('\x1b') == std::string::npos);
        CHECK(name.find('\xff') == std::string::npos);
    }
    TraceRun deep(call_header);
    deep.feed("call\t100\t1\t190\tx\t9223372036854775807\tf\t10");
    deep.feed("call\t100\t1\t190\tx\t511\tf\t0");
    CHECK(deep.trace().slices.size() == 2);
}

TEST_CASE("an empty trace names its clock") {
    TraceRun run(flow_header);
    const auto trace = run.trace();
    CHECK(trace.slices.empty());
    CHECK(trace.clocks == std::map<std::uint64_t, std::uint64_t>{{3, 0}});
}
