// SPDX-License-Identifier: GPL-2.0-or-later
// What a packet costs where one CPU works, and where two do on sockets of their own: bench [--check]. Two begin each
// short round together, and a round counts only if neither was interrupted in it; the figure is the median of those.
// bench --full: nobody reads, and each packet that comes has the oldest one evicted.
#include <atomic>
#include <ctime>
#include <string_view>
#include <thread>

#include "world.h"

// world.h is first: it has what the C is made of.
#include "c/aggregate_request.h"
#include "c/aggregate_rx.h"
#include "c/aggregate_tx.h"

namespace {

s64 ns_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

constexpr int cpus = 2, sockets = 16, packets_a_round = 320;

// Nothing of it shares a line with the other's.
struct alignas(128) Cpu {
    Socket of[sockets];
    Packet packet{true, 100};
    u32 seq = 0;
};
Cpu works[cpus];
bool is_full = false;

/// A segment arrives, is queued, read and aggregated; a reply is written, sent, and handed to the driver.
void one_packet(Cpu& cpu, int i) {
    // Both have one clock: whose packets are the oldest decides what is evicted.
    if (is_full) shim_time = static_cast<s64>(__builtin_ia32_rdtsc());
    const void* fault = nullptr;
    auto& socket = cpu.of[i % sockets];
    auto& packet = cpu.packet;
    if (i % sockets == 0) cpu.seq += 100;
    tcp_skb_cb cb{};
    cb.seq = cpu.seq;
    cb.end_seq = cpu.seq + 100;
    std::memcpy(packet.skb.cb, &cb, sizeof(cb));
    socket.tcp.rcv_nxt = cpu.seq;
    stapgen_rx_at_driver(&packet.skb, &fault);
    stapgen_rx_at_ip(&packet.skb, &fault);
    stapgen_rx_at_transport(&packet.skb, 1, &fault);
    stapgen_queue_rx_packet(socket.sk(), &packet.skb, 1, &fault);
    if (is_full) return;
    socket.tcp.copied_seq = cpu.seq + 100;
    stapgen_aggregate_read(socket.key(), shim_now(), 0, 1, &fault);
    socket.tcp.write_seq = socket.tcp.snd_nxt = cpu.seq;
    stapgen_insert_tx_call(socket.sk(), 1, &fault);
    stapgen_tx_at_tcp(socket.sk(), &packet.skb, 1, 0, &fault);
    stapgen_tx_at_ip(&packet.skb, &fault);
    stapgen_tx_at_device(&packet.skb, 1, &fault);
    if (stapgen_pop_tx_packet(&packet.skb, &fault) != nullptr) stapgen_aggregate_left(0, 0, shim_now());
}

struct Round {
    double ns = 0;  ///< per packet
    bool is_whole = false;
};
Round one_round(Cpu& cpu) {
    const auto cpu_begin = ns_of(CLOCK_THREAD_CPUTIME_ID), begin = ns_of(CLOCK_MONOTONIC);
    for (int i = 0; i < packets_a_round; ++i)
        one_packet(cpu, i);
    const auto took = ns_of(CLOCK_MONOTONIC) - begin, cpu_took = ns_of(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
    return {double(took) / packets_a_round, took < cpu_took + 5'000};
}

/// ns per packet of each CPU of those that work together, from the first on: the median of the rounds in which none of
/// them was interrupted; 0 where these are too few.
std::vector<double> medians(int first, int working, int rounds) {
    std::vector<Round> of[cpus];
    std::atomic<int> arrived = 0;
    std::vector<std::thread> threads;
    for (int cpu = first; cpu < first + working; ++cpu) {
        threads.emplace_back([&, cpu] {
            shim_cpu = cpu;
            for (int round = 0; round < rounds; ++round) {
                ++arrived;
                while (arrived < working * (round + 1))
                    cpu_relax();
                of[cpu].push_back(one_round(works[cpu]));
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    std::vector<double> found;
    for (int cpu = first; cpu < first + working; ++cpu) {
        std::vector<double> whole;
        for (int round = 0; round < rounds; ++round) {
            const bool is_whole = std::ranges::all_of(
                of, [&](const auto& rounds_of) { return rounds_of.empty() || rounds_of[round].is_whole; });
            if (is_whole) whole.push_back(of[cpu][round].ns);
        }
        std::ranges::nth_element(whole, whole.begin() + whole.size() / 2);
        found.push_back(whole.size() < 101 ? 0 : whole[whole.size() / 2]);
    }
    return found;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view option = argc > 1 ? argv[1] : "";
    is_full = option == "--full";
    constexpr int rounds = 3000;
    medians(0, cpus, 100);
    // Each beside itself alone: where memory lies makes a fifth, and is another thing in each run.
    const double alone[] = {medians(0, 1, rounds)[0], medians(1, 1, rounds)[0]};
    const auto together = medians(0, cpus, rounds);
    double work = 0, cost = 0;
    for (int cpu = 0; cpu < cpus; ++cpu) {
        if (alone[cpu] == 0 || together[cpu] == 0) {
            std::printf("the machine is busy: too few rounds were not interrupted\n");
            return option == "--check" ? 77 : 0;
        }
        std::printf("CPU %d: alone %.0f ns a packet, beside the other %.0f\n", cpu, alone[cpu], together[cpu]);
        work += alone[cpu] / together[cpu];
        cost = std::max(cost, together[cpu] / alone[cpu]);
    }
    std::printf("%.2f times the work of one, a packet costs at most %.2f times what it does alone\n", work, cost);
    const bool is_met = work >= 1.9 && cost <= 1.1;
    return option == "--check" && !is_met ? 1 : 0;
}
