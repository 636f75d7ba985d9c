// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/frame.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../show/repeated.h"
#include "scenes.h"
#include "unit/rows.h"

using namespace stapgen::live;
using stapgen::summaries::Drop;
using stapgen::summaries::Summary;

namespace {

constexpr Size usual{24, 80}, small{12, 40}, large{60, 200};

std::string text_of(const Frame& frame) {
    std::string text;
    for (const auto& line : frame.lines) {
        std::string row;
        for (const auto& span : line)
            row += span.text;
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + '\n';
    }
    return text;
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// The screen is what is kept in data/NAME.txt. $STAPGEN_UPDATE_SCREENS writes it there: look at it then.
void check_screen(const std::string& name, const Frame& frame) {
    const auto file = std::filesystem::path(TEST_DATA) / (name + ".txt");
    if (std::getenv("STAPGEN_UPDATE_SCREENS") != nullptr) std::ofstream(file) << text_of(frame);
    const auto expected = stapgen::base::read_file(file);
    REQUIRE(expected);
    CHECK(text_of(frame) == *expected);
}

Drop drop_at(std::uint64_t address, std::string symbol, std::string reason, std::int64_t count) {
    Drop drop;
    drop.place.address = address;
    drop.place.symbol = std::move(symbol);
    drop.place.offset = 0x1f;
    drop.reason.number = 3;
    drop.reason.name = std::move(reason);
    drop.count = count;
    return drop;
}

Summary drops_summary() {
    Summary summary;
    summary.recipe = "dropwatch";
    summary.counts_drops = true;
    summary.drops = {drop_at(1, "tcp_v4_rcv", "NO_SOCKET", 1009),
                     drop_at(2, "sk_stream_kill_queues", "QUEUE_PURGE", 53),
                     drop_at(3, "__udp4_lib_rcv", "NO_SOCKET", 17)};
    summary.accounting = {1079, 1079, 0, {}, {}, {}, false};
    return summary;
}

Scene drops(const Summary& summary = drops_summary()) {
    return scenes::of(summary, "dropwatch");
}

Summary counts_summary() {
    Summary summary;
    summary.recipe = "softnet";
    summary.counted = "rise";
    const auto add = [&](std::string name, std::string of, std::int64_t count, std::string meaning, bool loss) {
        auto& tally = summary.tallies.emplace_back();
        tally.group = {{"name", std::move(name)}, {"of", std::move(of)}};
        tally.count = count;
        if (!meaning.empty()) tally.meaning = std::move(meaning);
        tally.loss = loss;
    };
    add("softnet.dropped", "cpu1", 7,
        "packets that found the CPU's input queue full; stapgen help drop-reasons CPU_BACKLOG", true);
    add("link.rx_packets", "eth0", 1'000'003, "", false);
    add("softnet.processed", "cpu0", 2017, "packets that this CPU handed to the protocols", false);
    summary.accounting = {1'002'027, 1'002'027, 0, {}, {}, {}, false};
    return summary;
}

Scene counts(const Summary& summary = counts_summary()) {
    return scenes::of(summary, "softnet");
}

/// One stage of so many groups: group i has i values more than 5, each i us.
Summary groups_summary(int n) {
    Summary summary;
    summary.recipe = "rx-latency";
    summary.stages.push_back({"tcp-app", {}, {}});
    for (int i = 1; i <= n; ++i) {
        summary.stages.push_back({"tcp-app", {{"pid", std::int64_t{i}}}, repeated(1000 * i, 5 + i)});
        summary.stages.front().stats += summary.stages.back().stats;
    }
    return summary;
}

Scene groups(int n) {
    return scenes::of(groups_summary(n), "rx-latency");
}

std::string screen(const Scene& scene, const State& state = {}, Size size = usual) {
    return text_of(frame(scene, state, size, true));
}

}  // namespace

TEST_CASE("a recipe with stages, values and groups on screens of three sizes") {
    check_screen("sock-40x12", frame(scenes::sock(), {}, small, true));
    check_screen("sock-80x24", frame(scenes::sock(), {}, usual, true));
    check_screen("sock-200x60", frame(scenes::sock(), {}, large, true));
}

TEST_CASE("where the terminal has no UTF-8 every byte is ASCII") {
    const auto plain = frame(scenes::sock(), {}, usual, false);
    check_screen("sock-80x24-ascii", plain);
    for (const char c : text_of(plain))
        CHECK(static_cast<unsigned char>(c) < 0x80);
}

TEST_CASE("drops, with their rate and reason, and what is benign") {
    check_screen("drops-80x24", frame(drops(), {}, usual, true));
    const auto text = screen(scenes::of(drops_summary(), "dropwatch", {.hide_benign = true}));
    CHECK(!has(text, "QUEUE_PURGE"));
    CHECK(has(text, "53 drops at 1 benign place not shown"));
}

TEST_CASE("counts, with what they mean where there is room, and losses as such") {
    check_screen("counts-80x24", frame(counts(), {}, usual, true));
    check_screen("counts-40x12", frame(counts(), {}, small, true));
    const auto frames = frame(counts(), {}, usual, true);
    bool alert = false;
    for (const auto& line : frames.lines) {
        for (const auto& span : line)
            alert = alert || (span.style == Style::alert && has(span.text, "softnet.dropped"));
    }
    CHECK(alert);
}

TEST_CASE("calls are counted: a tree is for the report") {
    const auto text =
        screen(scenes::of(scenes::sample("earlier/own-call-trace.txt", {"function"}), "call-trace"), {}, {40, 80});
    CHECK(has(text, "53 calls in 1 trees; see the report"));
    CHECK(has(text, "ip_rcv_core"));
}

TEST_CASE("what became of packets, and what threads waited for, is seen while it is measured") {
    auto scene = scenes::of({}, "losses");
    scene.shown.sentences.ledger = {"1,013 packets received"};
    scene.shown.sentences.who = "What threads waited for";
    scene.shown.of<stapgen::rows::Ledger>() = {{"received", {{"of", "eth0"}}, 1013}, {"unexplained", {}, 0}};
    stapgen::rows::Who who;
    who.n = 7;
    who.waiter = "web[21]";
    who.waited = "run-queue";
    who.by = "a[1]";
    scene.shown.of<stapgen::rows::Who>() = {who};
    for (const auto size : {Size{24, 40}, usual}) {
        const auto text = screen(scene, {}, size);
        CHECK(has(text, "1,013 packets received"));
        CHECK(has(text, "eth0"));
        CHECK(has(text, "1,013"));
        CHECK(has(text, "unexplained"));
        CHECK(has(text, "What threads waited for"));
        CHECK(has(text, "web[21]"));
    }
}

TEST_CASE("before anything has come the screen says so") {
    auto nothing = scenes::of({}, "rx-latency");
    nothing.account_reported = false;
    nothing.run_ns = 1'200'000'000;
    check_screen("empty-80x24", frame(nothing, {}, usual, true));
    auto none = drops_summary();
    none.drops.clear();
    CHECK(has(screen(drops(none)), "no drops\n"));
}

TEST_CASE("a loss is in the bar, loudly, as are a pause and the end") {
    CHECK(!has(screen(scenes::sock()), "LOST"));
    auto summary = scenes::sock_summary();
    summary.accounting.lost = {{"evicted", 1009}};
    summary.accounting.seen += 1009;
    auto scene = scenes::sock(summary);
    scene.ending = true;
    State state;
    state.paused = true;
    check_screen("loss-80x24", frame(scene, state, usual, true));
    check_screen("loss-40x12", frame(scene, state, small, true));
    const auto bar = frame(scene, state, usual, true).lines.front();
    CHECK(std::ranges::any_of(
        bar, [](const Span& span) { return span.text == " 1,009 LOST " && span.style == Style::alert; }));
}

TEST_CASE("what was filtered and lost is not claimed before the script has printed it") {
    auto scene = scenes::sock();
    scene.account_reported = false;
    const auto text = screen(scene);
    CHECK(has(text, "403 reported so far"));
    CHECK(!has(text, "+ 0 lost"));
}

TEST_CASE("what is said beside the measurement is in the head") {
    auto scene = scenes::sock();
    scene.notice = "stapgen: cannot write on x.rec: No space left on device; the measurement goes on";
    CHECK(has(screen(scene), "No space left on device"));
}

TEST_CASE("groups are sorted by what the user chose") {
    const auto scene = groups(53);
    State state;
    const auto order = [&] {
        const auto text = screen(scene, state, {70, 80});
        std::vector<std::string> pids;
        auto lines = stapgen::base::split(text, '\n');
        const auto heading = std::ranges::find_if(lines, [](auto line) { return line.starts_with("PID"); });
        for (auto line = heading + 1; line != lines.end() && !line->empty() && pids.size() < 53; ++line)
            pids.emplace_back(stapgen::base::words(*line).front());
        return pids;
    };
    for (const auto by : {Order::n, Order::p50, Order::max}) {
        state.order = by;
        CAPTURE(name_of(by));
        CHECK(order().front() == "53");
        CHECK(order().back() == "1");
    }
    state.order = Order::name;  // numbers are numbers: 2 is before 10
    CHECK(order().front() == "1");
    CHECK(order()[1] == "2");
    CHECK(order().back() == "53");
    state.order = Order::p99;  // not enough samples: as they came
    CHECK(order().front() == "1");
}

TEST_CASE("a body longer than the screen is scrolled, and its table keeps its heading") {
    const auto scene = groups(53);
    State state;
    CHECK(has(screen(scene, state), " 1-20/58\n"));
    state.top = 1000;
    const auto last = frame(scene, state, usual, true);
    CHECK(last.shown.top == 58 - 20);
    const auto text = text_of(last);
    CHECK(has(text, " 39-58/58\n"));
    CHECK(has(text, "PID"));
    CHECK(!has(text, "tcp-app by group"));
}

TEST_CASE("the groups are of the stage with most in it, or of the chosen one") {
    const auto sock = scenes::sock();
    CHECK(frame(sock, {}, usual, true).shown.stage == "total");
    CHECK(frame(groups(3), {}, usual, true).shown.stage == "tcp-app");
    State state;
    state.stage = "epoll_events";
    CHECK(has(screen(sock, state, large), "epoll_events by group: 3"));
    state.stage = "is-gone";
    CHECK(has(screen(sock, state, large), "total by group: 3"));
}

TEST_CASE("numbers have commas between thousands") {
    Summary summary;
    summary.recipe = "rx-latency";
    summary.stages = {{"tcp-app", {}, repeated(1000, 1009)}};
    CHECK(has(screen(scenes::of(summary, "rx-latency")), " 1,009 "));
}

TEST_CASE("the bar says of what time the tables are") {
    auto scene = groups(3);
    scene.run_ns = 3'723'000'000'000;
    CHECK(has(screen(scene), " 1:02:03\n"));
    scene.window = Window::interval;
    scene.window_ns = 1'000'000'000;
    CHECK(has(screen(scene), "last interval 1.0 s, run 1:02:03"));
    scene.window_is_there = false;
    CHECK(has(screen(scene), "no interval yet, run 1:02:03"));
    scene.window_is_there = true;
    scene.window = Window::since;
    scene.window_ns = 61'000'000'000;
    CHECK(has(screen(scene), "since r 1:01, run 1:02:03"));
}

TEST_CASE("the help names every key, and fits a small screen by being scrolled") {
    State state;
    state.help = true;
    check_screen("help-80x24", frame(groups(3), state, {30, 80}, true));
    const auto little = frame(groups(3), state, small, true);
    CHECK(little.shown.lines > little.shown.page);
}

TEST_CASE("no screen is too small, and nothing is wider or higher than the screen") {
    auto lossy = scenes::sock_summary();
    lossy.accounting.lost = {{"evicted", 7}};
    State help;
    help.help = true;
    for (const auto& scene : {scenes::sock(lossy), drops(), counts(), groups(53), Scene()}) {
        for (const State& state : {State{}, help}) {
            for (const std::size_t rows : {0, 1, 2, 3, 4, 5, 7, 11, 24, 61}) {
                for (const std::size_t columns : {1, 2, 3, 5, 11, 23, 41, 79, 131, 211}) {
                    const auto shown = frame(scene, state, {rows, columns}, true);
                    CHECK(shown.lines.size() <= rows);
                    for (const auto& line : shown.lines)
                        CHECK(width_of(line) <= columns);
                }
            }
        }
    }
}

TEST_CASE("names of the measured system bring no escape sequence, and no character that takes another width") {
    auto summary = groups_summary(1);
    for (auto& stage : summary.stages) {
        if (!stage.group.empty())
            stage.group = {{"comm\x1b[1m", std::string("\x1b]0;owned\x07\xe2\x80\xae\x9b"
                                                       "2J\n")}};
    }
    auto scene = scenes::of(summary, "rx-latency --comm \x1b[31m");
    scene.notice = "\x1b[2Jnotice";
    auto drop = drops_summary();
    drop.drops.front().place.symbol = "\x1b[31m\xc2\x9b";
    auto count = counts_summary();
    count.tallies.front().group.front().value = std::string("\x1b\x84");
    count.tallies.front().meaning = "\x1b[5m";
    for (const auto& hostile : {scene, drops(drop), counts(count)}) {
        for (const auto& line : frame(hostile, {}, large, false).lines) {
            for (const auto& span : line) {
                for (const char c : span.text)
                    CHECK((c >= ' ' && c < 0x7f));
            }
        }
    }
    CHECK(has(screen(scene, {}, large), "\\x1b]0;owned\\x07\\xe2\\x80\\xae\\x9b2J\\x0a"));
}
