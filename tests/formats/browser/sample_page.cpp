// SPDX-License-Identifier: GPL-2.0-or-later
/// Writes a page from made-up data that looks like a measurement: sample_page KIND > FILE
/// KIND: server, comparison, hosts, drops, averages, packets, waits, ledger, between, hostile.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "analyze/analyzer.h"
#include "analyze/merge.h"
#include "analyze/results.h"
#include "between/page.h"
#include "decode/record_parser.h"
#include "show/model/hosts.h"
#include "study/why.h"
#include "unit/analyze/analyzer_run.h"
#include "unit/show/written.h"

using namespace stapgen;
using namespace stapgen::summaries;

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t start = 1'795'180'000 * second;

struct Stage {
    std::string name;
    double median_us;
    double spread;  ///< of the logarithm
};

const std::vector<Stage> server_stages = {{"rx", 2.77, 0.22},   {"tcpip_rx", 19.2, 0.31}, {"epoll", 53.4, 0.42},
                                          {"wait", 13.6, 0.37}, {"read", 11.1, 0.33},     {"app", 18.9, 0.29},
                                          {"tx", 19.4, 0.35}};

/// Requests of a server whose `app` stage is `slowed` times as slow, and whose epoll stage stalls now and then.
Summary server(std::uint64_t seed, int seconds, int per_second, double slowed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Summary summary;
    summary.recipe = "sock-latency";
    std::vector<std::string> names;
    for (const auto& stage : server_stages)
        names.push_back(stage.name);
    Breakdown breakdown("", names, 10);
    std::vector<table::Histogram> whole(names.size() + 1);
    std::map<int, std::vector<table::Histogram>> threads;
    summary.series = Series(names.size() + 1);
    std::vector<std::int64_t> times(names.size());
    table::Histogram events;
    for (int i = 0; i < seconds * per_second; ++i) {
        const auto time = start + static_cast<std::int64_t>(i) * second / per_second;
        const bool stalls = random() % 97 == 0 || (i / per_second) % 41 == 29;
        const int thread = static_cast<int>(random() % 4);
        std::int64_t total = 0;
        for (std::size_t s = 0; s < names.size(); ++s) {
            double us = server_stages[s].median_us * std::exp(server_stages[s].spread * normal(random));
            if (names[s] == "epoll" && stalls) us *= 9 * std::exp(0.5 * normal(random));
            if (names[s] == "app") us *= slowed;
            times[s] = static_cast<std::int64_t>(us * 1000);
            total += times[s];
        }
        auto& block = summary.series.at(time);
        auto& part = threads[thread];
        part.resize(names.size() + 1);
        for (std::size_t s = 0; s <= names.size(); ++s) {
            const auto value = s < names.size() ? times[s] : total;
            whole[s].add(value);
            part[s].add(value);
            block.stages[s].add(value);
        }
        events.add(static_cast<std::int64_t>(random() % 3 + 1));
        if (!breakdown.add(total, times)) continue;
        SlowRecord slow{total, time + total, {}, {}};
        slow.stages.assign(times.begin(), times.end());
        if (random() % 5 == 0) slow.stages[3].reset();
        slow.of = {{"tid", std::int64_t{187 + thread}}, {"comm", "mc-worker"}, {"remote", "10.1.7.23:48211"}};
        breakdown.keep(std::move(slow));
    }
    names.push_back("total");
    for (std::size_t s = 0; s < names.size(); ++s)
        summary.stages.push_back({names[s], {}, whole[s]});
    for (const auto& [thread, part] : threads) {
        const Group group = {{"pid", std::int64_t{183}}, {"tid", std::int64_t{187 + thread}}, {"comm", "mc-worker"}};
        for (std::size_t s = 0; s < names.size(); ++s)
            summary.stages.push_back({names[s], group, part[s]});
    }
    summary.values = {{"epoll_events", {}, events}};
    summary.breakdowns = {breakdown};
    const auto n = breakdown.total().n();
    summary.accounting = {2 * n + 14, n, n + 1, {{"no-reply", 11}, {"unread", 2}}, {}, {{"joined-before-reply", 7}},
                          true};
    summary.input = {2 * n + 31, 2 * n + 31, 0, {}};
    summary.start_epoch_ns = start;
    summary.end_epoch_ns = start + seconds * second;
    return summary;
}

/// The paths of packets through the stack: twenty stages, of which a record has some ten.
Summary packets() {
    constexpr std::array<const char*, 20> names{"irq-raise", "raise-softirq", "softirq-poll", "poll-drv",  "drv-ip",
                                                "ip-tcp",    "ip-udp",        "tcp-queue",    "udp-queue", "queue-wake",
                                                "wake-run",  "run-copy",      "copy-return",  "app-tcp",   "tcp-ip",
                                                "app-udp",   "udp-ip",        "ip-drv",       "qdisc",     "drv-done"};
    constexpr std::size_t first_sent = 13;
    std::mt19937_64 random(1009);
    std::lognormal_distribution<double> us(2, 1.1);
    stapgen::decode::RecordParser parser;
    std::string header =
        "stapgen\t3\tpacket-flow\tflow\ttime:time\tpid:int\ttid:int\tcomm:text\tway:text\tlocal:endpoint\t"
        "remote:endpoint\tbytes:int\tdev:text\tcpu:int";
    for (const auto* name : names)
        header += fmt::format("\t{}:stage", name);
    parser.feed(header + "\ttotal:stage");
    auto analyzer = Analyzer::create(*parser.header(), {.group_by = {"comm"}}).value();
    analyzer.add(parser.feed(fmt::format("ready\t{}\t1000000000", start)));
    constexpr int records = 4021;
    for (int i = 0; i < records; ++i) {
        const bool received = i % 2 == 0;
        const std::string_view other = i / 2 % 2 == 0 ? "tcp" : "udp";
        auto line =
            fmt::format("flow\t{}\t183\t{}\tmc-worker\t{}\t0.ffff0a000001:11211\t0.ffff0a000002:{}\t{}\teth0\t{}",
                        second + i * 500'003LL, 187 + i % 4, received ? "rx" : "tx", 4001 + i % 7, 1 + i % 1448, i % 4);
        std::int64_t total = 0;
        for (std::size_t s = 0; s < names.size(); ++s) {
            const bool is_on_path =
                (s < first_sent) == received && std::string_view(names[s]).find(other) == std::string::npos;
            const auto ns = static_cast<std::int64_t>(us(random) * 1000);
            line += is_on_path ? fmt::format("\t{}", ns) : "\t-";
            total += is_on_path ? ns : 0;
        }
        analyzer.add(parser.feed(fmt::format("{}\t{}", line, total)));
    }
    analyzer.add(parser.feed(fmt::format("end\t{}\tseen={}\treported={}", start + 3 * second, records, records)));
    auto summary = stapgen::summaries::summary_of(analyzer.measured());
    summary.input = parser.input();
    return summary;
}

/// A report of lines as a script prints them.
rows::Results results_of_lines(const std::string& lines, std::vector<std::string> group_by) {
    const analyzer_run::Run run(lines, {.group_by = std::move(group_by)});
    auto results = stapgen::analyze::results_of(run.analyzer->measured());
    stapgen::study::explain(results);
    return results;
}

/// Two directions whose slowest records last three digits of a millisecond.
rows::Results waits() {
    std::string lines =
        "stapgen\t5\tnet-latency\tnet\ttime:time\tway:text\ttid:int\tcomm:text\tip-tcp:stage\ttcp-app:stage\t"
        "tcp-app.run-queue:stage\ttcp-app.program:stage\tapp-tcp:stage\tqdisc:stage\twaited:text\tby:text\t"
        "waited_ns:int\n" +
        fmt::format("ready\t{}\t1000\n", start);
    for (std::int64_t i = 1; i <= 503; ++i) {
        const auto slow = i % 101 == 0 ? i / 101 * 1'000'000 : 0;
        lines += fmt::format("net\t{}\trx\t7\t<b>&reader\t1000\t{}\t{}\t6000\t-\t-\trun-queue\tspin[77]\t{}\n",
                             i * 2'000'003, 9000 + slow, 3000 + slow, 2000 + slow);
        lines += fmt::format("net\t{}\ttx\t7\t<b>&reader\t-\t-\t-\t-\t{}\t3000\t-\t-\t0\n", i * 2'000'003 + 7,
                             7000 + slow / 10);
    }
    return results_of_lines(lines + fmt::format("end\t{}\tseen=1006\treported=1006\n", start + 2 * second), {});
}

/// Packets by the primes, all kinds of entries, and more than one that does not add up.
rows::Results ledger() {
    std::string lines =
        "stapgen\t4\tlosses\tdrop\tlocation:address\treason:reason\tstep:text,key\tcount:count\n"
        "fields\tledger\tentry:text,key\tof:text,key\tpackets:count\n" +
        fmt::format("ready\t{}\t1000\n", start);
    const auto add = [&](std::string_view entry, std::string_view of, std::int64_t packets) {
        lines += fmt::format("ledger\t{}\t{}\t{}\n", entry, of, packets);
    };
    add("card", "eth1", 9973);
    add("card-missed", "eth1", 101);
    add("card-handed-over", "eth1", 9762);
    add("received", "eth1", 9739);
    add("received", "<img src=x onerror=alert(1)>", 503);
    add("not-followed", "not IP", 19);
    add("not-followed", "fragment", 17);
    add("reached", "udp", 6011);
    add("reached", "tcp", 1801);
    add("reached", "icmp", 1);
    add("passed-on", "eth2", 1013);
    add("listen-queue", "syn", 31);
    for (const auto& [address, step, packets] :
         std::vector<std::tuple<unsigned, const char*, int>>{{0x1000, "way in", 307},
                                                             {0x2000, "way in", 401},
                                                             {0x3000, "udp", 211},
                                                             {0x4000, "udp", 109},
                                                             {0x5000, "tcp", 53},
                                                             {0x6000, "way out", 137}})
        lines += fmt::format("drop\tffffffff9a00{:04x}\t3\t{}\t{}\n", address, step, packets);
    return results_of_lines(lines + fmt::format("end\t{}\tseen=1218\treported=1218\n", start + second), {"step"});
}

Drop drop(std::int64_t interval, const char* symbol, std::uint64_t offset, const char* reason, std::int64_t count) {
    Drop drop;
    drop.interval = interval;
    drop.time = start + (interval + 1) * 5 * second;
    drop.place.address = 0xffffffff9a000000 + offset;
    drop.place.symbol = symbol;
    drop.place.offset = offset;
    drop.reason.number = 3;
    drop.reason.name = reason;
    drop.count = count;
    return drop;
}

Summary drops() {
    Summary summary;
    summary.recipe = "dropwatch";
    summary.counts_drops = true;
    std::int64_t sum = 0;
    for (int i = 0; i < 13; ++i) {
        summary.intervals.push_back({i, start + i * 5 * second, start + (i + 1) * 5 * second});
        if (i == 4) continue;
        summary.drops.push_back(drop(i, "__udp4_lib_rcv", 0x235, "NO_SOCKET", 23 + i * i * 7));
        summary.drops.push_back(drop(i, "tcp_v4_rcv", 0x9a, "NO_SOCKET", 17 + i));
        summary.drops.push_back(drop(i, "sk_stream_kill_queues", 0x47, "QUEUE_PURGE", 13 + i));
        if (i % 3 == 0) summary.drops.push_back(drop(i, "nf_hook_slow", 0xb1, "NETFILTER_DROP", 5));
    }
    for (const auto& row : summary.drops)
        sum += row.count;
    summary.drops.back().place.module = "nf_tables";
    summary.counters = {{"TcpExt.ListenOverflows", "connection attempts that met a full accept queue", 17},
                        {"TcpExt.ListenDrops", "connection attempts that listening sockets lost", 0}};
    summary.accounting = {sum + 3, sum, 0, {}, {{"evicted", 3}}, {}, false};
    summary.transport.skipped_probes = 5;
    summary.input = {4211, 4208, 3, {{7, stapgen::decode::Flaw::unknown_tag}, {19, stapgen::decode::Flaw::bad_number}}};
    summary.start_epoch_ns = start;
    summary.end_epoch_ns = start + 65 * second;
    return summary;
}

Summary averages() {
    Summary summary;
    summary.recipe = "memcached-tracker";
    summary.notes = {{"requests above 100 us are cut off"},
                     {"the lines are cumulative: the means of intervals are recovered"}};
    summary.averages = {{"rx", true, 20'011, 3021.7, 0.5}, {"tcpip_rx", true, 20'011, 21'903.1, 0.5}};
    for (int i = 0; i < 7; ++i)
        summary.average_intervals.push_back(
            {11 + 3 * i, 2003, {{"rx", true, 2003, 3000.0 + i, 0.7}, {"tcpip_rx", true, 2003, 21'000.0 + i, 0.7}}});
    summary.accounting = {20'011, 20'011, 0, {}, {}, {}, true};
    return summary;
}

/// 67 hosts, of which one is slow and one has no values; those above 60 have no chart.
void write_hosts(const stapgen::show::Format& html) {
    std::vector<stapgen::show::HostRow> rows;
    std::vector<Summary> all;
    for (std::uint64_t i = 0; i < 67; ++i) {
        auto summary = server(i + 1, 3, i == 11 ? 0 : 401, i == 7 ? 11 : 1);
        summary.origins = {{fmt::format("web{}", i), i % 3 == 0 ? "6.12.117" : "6.1.0-45-amd64", {}}};
        rows.push_back(
            stapgen::show::host_row(i == 13 ? "web13<b>.a-long-name.of-a-host.example" : fmt::format("web{}", i),
                                    stapgen::summaries::results_of(summary, {})));
        all.push_back(std::move(summary));
    }
    const stapgen::show::Hosts hosts(std::move(rows), "1 of 68 hosts did not complete: web67 (unreachable)");
    html.write_hosts(std::cout, hosts, reports_of({merge_all(std::move(all))}), {});
}

/// Requests of a client to a server whose clock is an hour ahead, and is set on the way if `is_set`.
void ask(between::Host& client, between::Host& server, between::Side& asked, std::uint32_t first, bool is_set) {
    std::mt19937_64 random(first);
    std::exponential_distribution<double> more(1e-5);
    const auto ns = [&](double least) { return static_cast<std::int64_t>(least + more(random)); };
    const auto connection = static_cast<std::uint32_t>(client.connections.size());
    client.connections.push_back({"10.9.0.1:40000", "[2001:db8:1009:2003:4001:5003:6007:7001]:5432"});
    const auto there = static_cast<std::uint32_t>(server.connections.size());
    server.connections.push_back({client.connections.back().remote, client.connections.back().local});
    auto now = start;
    for (std::uint32_t i = 0; i < 503; ++i) {
        const auto ahead = &client == &server ? 0 : (is_set && i % 2 == 1 ? 61 * 60 : 60 * 60) * second;
        const bool is_slow = i % 97 == 13;
        const auto left = now + ns(7e3), came = left + ns(is_slow ? 41e6 : 1e6),
                   answered = came + ns(is_slow ? 13e6 : 3e6), back = answered + ns(2e6),
                   whole = back + ns(is_slow ? 5e6 : 1e4), read = whole + ns(1.1e4);
        const auto seq = first + i * 101;
        // A capture has what is on the wire.
        const bool is_captured = &asked == &client.capture;
        asked.ends.push_back({seq, ~seq, connection, left, back, is_captured ? 0 : left - now,
                              (is_captured ? whole : read) - back, whole - back});
        server.server.ends.push_back(
            {.seq = seq, .reply_seq = ~seq, .connection = there, .from = came + ahead, .to = answered + ahead});
        if (is_slow) asked.resent.push_back({connection, seq});
        now = read + ns(1e7);
    }
}

/// A client, a proxy and a server with a bad name and a bad clock; both ends on one host; a client's capture.
void write_between() {
    std::vector<between::Host> hosts(5);
    auto &app = hosts[0], &proxy = hosts[1], &db = hosts[2], &both = hosts[3], &captured = hosts[4];
    app.name = "app1";
    proxy.name = "proxy1.a-long-name.of-a-host.example";
    db.name = "</article><img src=x onerror=alert(1)>";
    both.name = "containers";
    captured.name = "captured";
    ask(app, proxy, app.client, 1, false);
    ask(proxy, db, proxy.client, 1'000'000, true);
    ask(both, both, both.client, 2'000'000, false);
    ask(captured, db, captured.capture, 3'000'000, false);
    for (auto* host : {&app, &proxy})
        host->client.steps = {{"ask", 503 * 110'000, 503}, {"<b>read</b>", 503 * 111'000, 503}};
    db.server.steps = {{"app", 503 * 2'900'000LL, 503}};
    proxy.not_measured = {{"unanswered", 7}};
    app.client.ends.push_back({.seq = 77, .from = start, .to = start + second});
    between::write_html(std::cout, between::between(hosts));
}

/// Names that try to leave their place in the page.
Summary hostile() {
    auto summary = server(7, 11, 401, 1);
    const std::string name =
        "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\x1b[31m\xff\xc3(--><b>";
    summary.recipe = name;
    summary.notes = {{name}};
    const auto old = summary.stages[2].name;
    for (auto& stage : summary.stages) {
        if (stage.name == old) stage.name = name;
        for (auto& field : stage.group)
            if (field.key == "comm") field.value = name;
    }
    summary.stages[0].name = "{{css}}";
    auto bad = drop(0, "x", 1, "y", 3);
    bad.place.symbol = bad.place.module = bad.reason.name = name;
    summary.counts_drops = true;
    summary.drops = {bad};
    summary.intervals = {{0, start, start + second}};
    summary.accounting.lost = {{name, 3}};
    summary.counters = {{name, name, 3}};
    return summary;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string kind = argc == 2 ? argv[1] : "";
    const auto& html = stapgen::show::format_named("html");
    if (kind == "comparison") {
        auto before = server(1, 61, 997, 1);
        auto after = server(2, 67, 997, 1.31);
        before.origins = after.origins = {{"web17", "6.12.117", {}}};
        html.write_comparisons(
            std::cout,
            std::vector{stapgen::show::Compared{compare(before, after).value(), results_of(before), results_of(after)}},
            {});
        return 0;
    }
    if (kind == "between") {
        write_between();
        return 0;
    }
    if (kind == "hosts") {
        write_hosts(html);
        return 0;
    }
    const std::map<std::string, std::function<rows::Results()>> of_lines = {{"waits", waits}, {"ledger", ledger}};
    if (const auto made = of_lines.find(kind); made != of_lines.end()) {
        html.write(std::cout, {1, [&](std::size_t, const stapgen::show::Options&) { return made->second(); }}, {});
        return 0;
    }
    const std::map<std::string, std::function<Summary()>> reports = {{"server", [] { return server(1, 61, 997, 1); }},
                                                                     {"drops", drops},
                                                                     {"averages", averages},
                                                                     {"packets", packets},
                                                                     {"hostile", hostile}};
    const auto found = reports.find(kind);
    if (found == reports.end()) {
        std::cerr << "usage: sample_page server|comparison|hosts|drops|averages|packets|waits|ledger|between|hostile\n";
        return 2;
    }
    auto summary = found->second();
    summary.origins = {{"web17", "6.12.117", {}}};
    html.write(std::cout, reports_of(std::vector{summary}), {});
    return 0;
}
