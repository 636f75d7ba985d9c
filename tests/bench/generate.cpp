// SPDX-License-Identifier: GPL-2.0-or-later
// generate events|stage-timing|dropwatch BYTES: prints so many bytes (and up to one line more) of what our own
// rx-latency, the script of Red Hat's solution, or dropwatch.stp of 2023 prints. generate flow RECORDS: so many records
// of two directions through the stack, stage by stage, half of them received. The same arguments give the same text.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::int64_t start_epoch_ns = 1795180848778419768;
constexpr std::int64_t start_monotonic_ns = 43788213014;
constexpr std::int64_t second = 1'000'000'000;

struct Process {
    std::string_view comm;
    int pid = 0;
    int threads = 1;
    int port = 0;
};

constexpr std::array<Process, 7> processes{{{"mc-worker", 31337, 4, 11211},
                                            {"nginx", 809, 1, 443},
                                            {"nginx", 811, 1, 443},
                                            {"postgres", 4099, 1, 5432},
                                            {"Web Content", 19550, 2, 50021},
                                            {"redis-server", 997, 1, 6379},
                                            {"java", 102293, 7, 9092}}};

struct Place {
    std::string_view name;  ///< as symdata() prints it
    int per_interval = 0;   ///< median count
};

constexpr std::array<Place, 31> places{{{"unix_stream_read_generic+0x5a3/0xb20 [kernel]", 1709},
                                        {"nf_hook_slow+0xd3/0x110 [kernel]", 23},
                                        {"tcp_v4_rcv+0x1a5/0xf30 [kernel]", 41},
                                        {"tcp_v6_rcv+0x2b1/0xfe0 [kernel]", 5},
                                        {"tcp_rcv_established+0x2f6/0x7a0 [kernel]", 211},
                                        {"tcp_rcv_state_process+0x8b1/0x1150 [kernel]", 67},
                                        {"tcp_data_queue+0x61c/0xd40 [kernel]", 97},
                                        {"tcp_ack+0x10d4/0x1590 [kernel]", 13},
                                        {"tcp_try_rmem_schedule+0x11f/0x4c0 [kernel]", 3},
                                        {"udp_queue_rcv_one_skb+0x4d5/0x590 [kernel]", 131},
                                        {"__udp4_lib_rcv+0x853/0xc10 [kernel]", 53},
                                        {"icmp_rcv+0x12d/0x400 [kernel]", 7},
                                        {"ip_rcv_finish_core+0x1a3/0x440 [kernel]", 19},
                                        {"ip_rcv_core+0x1f7/0x370 [kernel]", 29},
                                        {"ip_forward+0x45f/0x4d0 [kernel]", 2},
                                        {"ip_error+0x1cd/0x2f0 [kernel]", 3},
                                        {"ip6_input_finish+0x41/0x70 [kernel]", 11},
                                        {"ip6_mc_input+0x131/0x2b0 [kernel]", 37},
                                        {"ipv6_rcv+0x8d/0x110 [kernel]", 3},
                                        {"arp_process+0x283/0x830 [kernel]", 17},
                                        {"neigh_invalidate+0x8b/0x120 [kernel]", 5},
                                        {"__netif_receive_skb_core.constprop.0+0x13b/0xfb0 [kernel]", 73},
                                        {"sk_stream_kill_queues+0x56/0xe0 [kernel]", 2},
                                        {"skb_queue_purge_reason+0xc4/0x110 [kernel]", 31},
                                        {"netlink_broadcast_filtered+0x2c1/0x470 [kernel]", 43},
                                        {"packet_rcv+0x6d/0x4b0 [af_packet]", 307},
                                        {"tun_net_xmit+0x1cf/0x4e0 [tun]", 19},
                                        {"br_handle_frame+0x121/0x3c0 [bridge]", 11},
                                        {"virtnet_poll+0x3a7/0x590 [virtio_net]", 2},
                                        {"0xffffffffc0a1b2c3", 3},
                                        {"0xffffffff8149a8ed", 5}}};

class Random {
  public:
    /// A share `tail` of the values is drawn around 20 times the median.
    std::int64_t lognormal(double median, double sigma, double tail = 0) {
        const double center = tail > 0 && uniform_(bits_) < tail ? median * 20 : median;
        return std::llround(center * std::exp(sigma * normal_(bits_)));
    }
    std::int64_t gap(double mean) { return static_cast<std::int64_t>(-mean * std::log1p(-uniform_(bits_))); }
    std::size_t below(std::size_t count) { return bits_() % count; }
    double share() { return uniform_(bits_); }

  private:
    std::mt19937_64 bits_{1009};
    std::uniform_real_distribution<double> uniform_;
    std::normal_distribution<double> normal_;
};

/// Printed so far and what is yet to be.
class Output {
  public:
    explicit Output(std::uint64_t bytes) : left_(bytes) {}
    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
        if (buffer_.size() > 1U << 20) flush();
    }
    [[nodiscard]] bool is_enough() const { return buffer_.size() >= left_; }
    void flush() {
        if (std::fwrite(buffer_.data(), 1, buffer_.size(), stdout) != buffer_.size()) std::exit(1);
        left_ -= std::min<std::uint64_t>(left_, buffer_.size());
        buffer_.clear();
    }

  private:
    std::uint64_t left_;
    fmt::memory_buffer buffer_;
};

void events(Output& out, Random& random) {
    out.line(
        "stapgen\t2\trx-latency\trx\ttime:time\tcpu:int\tpid:int\ttid:int\tcomm:text\tlocal:endpoint\tremote:endpoint"
        "\tbytes:int\tdrv-ip:stage\tip-tcp:stage\ttcp-app:stage\tip-udp:stage\tudp-app:stage\n");
    out.line("ready\t{}\t{}\n", start_epoch_ns, start_monotonic_ns);
    std::int64_t time = start_monotonic_ns, tick = second, count = 0;
    while (!out.is_enough()) {
        time += random.gap(10'000);
        for (; time - start_monotonic_ns > tick; tick += second)
            out.line("tick\t{}\tseen={}\treported={}\tlost.evicted=0\n", start_epoch_ns + tick, count, count);
        const auto& process = processes[random.below(processes.size())];
        const auto thread = random.below(static_cast<std::size_t>(process.threads));
        const auto flow = random.below(37);
        out.line("rx\t{}\t{}\t{}\t{}\t{}\t0.ffff0a00000b:{}\t0.ffff0a0000{:02x}:{}\t{}\t", time, (flow + thread) % 8,
                 process.pid, process.pid + static_cast<int>(thread), process.comm, process.port, 17 + flow % 11,
                 32768 + 101 * flow, 1 + random.lognormal(300, 1.3));
        const auto drv_ip = random.lognormal(1'900, 0.35, 0.002), ip_tcp = random.lognormal(2'700, 0.4, 0.003),
                   app = random.lognormal(38'000, 0.9, 0.01);
        if (process.port == 443 && flow % 3 == 0) {
            out.line("{}\t-\t-\t{}\t{}\n", drv_ip, ip_tcp, app);
        } else {
            out.line("{}\t{}\t{}\t-\t-\n", drv_ip, ip_tcp, app);
        }
        ++count;
    }
    out.line("end\t{}\tseen={}\treported={}\tlost.evicted=0\n", start_epoch_ns + time - start_monotonic_ns, count,
             count);
}

struct FlowStage {
    std::string_view name, attribute;
    bool received = true;
};

/// Of TCP, as packet-flow names them.
constexpr std::array<FlowStage, 15> flow_stages{{{"irq-raise", "cpu", true},
                                                 {"raise-softirq", "cpu", true},
                                                 {"softirq-poll", "cpu", true},
                                                 {"poll-drv", "cpu", true},
                                                 {"drv-ip", "cpu", true},
                                                 {"ip-tcp", "cpu", true},
                                                 {"tcp-queue", "cpu", true},
                                                 {"queue-wake", "", true},
                                                 {"wake-run", "", true},
                                                 {"run-copy", "thread", true},
                                                 {"app-tcp", "thread", false},
                                                 {"tcp-ip", "thread", false},
                                                 {"ip-drv", "thread", false},
                                                 {"qdisc", "", false},
                                                 {"drv-done", "cpu", false}}};

/// Of so many records of one way, the values of each stage are 0, 1, ... ns in an order of its own, and 1000 ns times
/// the stage's number, counted from 1, more: what is true of them is known without reading them.
void flow(Output& out, std::int64_t records) {
    out.line(
        "stapgen\t3\tpacket-flow\tpacket\ttime:time\tcpu:int\tpid:int\ttid:int\tcomm:text\tway:text\tlocal:endpoint"
        "\tremote:endpoint\tdev:text\tbytes:int");
    for (const auto& stage : flow_stages)
        out.line("\t{}:stage{}{}", stage.name, stage.attribute.empty() ? "" : ",", stage.attribute);
    out.line("\ttotal:stage\nready\t{}\t{}\n", start_epoch_ns, start_monotonic_ns);
    constexpr std::array<std::int64_t, 15> steps{{1000003, 1000033, 1000037, 1000039, 1000081, 1000099, 1000117,
                                                  1000121, 1000133, 1000151, 1000159, 1000171, 1000183, 1000187,
                                                  1000193}};
    auto time = start_monotonic_ns;
    for (std::int64_t i = 0; i < records; ++i) {
        const bool received = i % 2 == 0;
        const auto of_direction = received ? (records + 1) / 2 : records / 2;
        time += 1009;
        out.line("packet\t{}\t{}\t31337\t{}\tmc-worker\t{}\t0.ffff0a00000b:11211\t0.ffff0a0000{:02x}:{}\teth0\t{}",
                 time, i % 8, 31338 + i % 4, received ? "rx" : "tx", 17 + i % 11, 32768 + 101 * (i % 37), 1 + i % 1448);
        std::int64_t total = 0;
        for (std::size_t stage = 0; stage < flow_stages.size(); ++stage) {
            if (flow_stages[stage].received != received) {
                out.line("\t-");
                continue;
            }
            const auto ns = 1000 * (static_cast<std::int64_t>(stage) + 1) + i / 2 * steps[stage] % of_direction;
            total += ns;
            out.line("\t{}", ns);
        }
        out.line("\t{}\n", total);
    }
    out.line("end\t{}\tseen={}\treported={}\tlost.evicted=0\n", start_epoch_ns + time - start_monotonic_ns, records,
             records);
}

std::string ctime_text(std::int64_t epoch_ns) {
    const auto seconds = static_cast<std::time_t>(epoch_ns / second);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%a %b %e %H:%M:%S %Y", std::gmtime(&seconds))};
}

void stage_timing(Output& out, Random& random) {
    std::int64_t time = start_epoch_ns, shown = 0;
    std::string text;
    while (!out.is_enough()) {
        time += random.gap(100'000);
        if (time / second != shown) {
            shown = time / second;
            text = ctime_text(time);
        }
        const auto& process = processes[random.below(processes.size())];
        const bool in = random.share() < 0.5;
        const auto first = in ? random.lognormal(14, 0.5) : random.lognormal(4, 0.4),
                   second_stage = in ? random.lognormal(21, 0.4, 0.003) : random.lognormal(8, 0.5),
                   third = in ? random.lognormal(180, 0.9, 0.01) : random.lognormal(3, 0.6, 0.004);
        if (in) {
            out.line("{} \b\b\b\b\b\b |I| drv-ip: {} us,\tip-tcp: {} us,\t tcp-app: {} us.\t| Proc {}, PID {}\n", text,
                     first, second_stage, third, process.comm, process.pid);
        } else {
            out.line("{} \b\b\b\b\b\b |O| app-tcp: {} us,\ttcp-ip: {} us,\t ip-drv: {} us.\t\t| Proc {}, PID {}\n",
                     text, first, second_stage, third, process.comm, process.pid);
        }
    }
}

void dropwatch(Output& out, Random& random) {
    out.line("Monitoring for dropped packets\n");
    std::vector<std::pair<std::int64_t, std::string_view>> rows;
    for (auto time = start_epoch_ns; !out.is_enough(); time += 5 * second) {
        rows.clear();
        for (const auto& place : places) {
            if (random.share() < 0.6) rows.emplace_back(1 + random.lognormal(place.per_interval, 0.7), place.name);
        }
        std::ranges::stable_sort(rows, std::greater{}, &decltype(rows)::value_type::first);
        out.line("{}\n", ctime_text(time));
        for (const auto& [count, name] : rows)
            out.line("{} packets dropped at {}\n", count, name);
    }
    out.line("Stopping dropped packet monitor\n");
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view format = argc == 3 ? argv[1] : "";
    const auto bytes = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
    Output out(bytes);
    Random random;
    if (bytes > 0 && format == "events") {
        events(out, random);
    } else if (bytes > 0 && format == "stage-timing") {
        stage_timing(out, random);
    } else if (bytes > 0 && format == "dropwatch") {
        dropwatch(out, random);
    } else if (bytes > 0 && format == "flow") {
        flow(out, static_cast<std::int64_t>(bytes));
    } else {
        fmt::print(stderr, "usage: generate events|stage-timing|dropwatch BYTES, or flow RECORDS\n");
        return 2;
    }
    out.flush();
    return 0;
}
