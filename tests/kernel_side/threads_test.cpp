// SPDX-License-Identifier: GPL-2.0-or-later
// CPUs that work at the same time, each a thread that stops at random points.
#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#define SHIM_PAUSES
#define STAPGEN_RX_QUEUED 61
#define STAPGEN_TX_CALLS 61
#define STAPGEN_REQUESTS 61
#define STAPGEN_SOCKETS 61
#define STAPGEN_FIELDS 9
#define STAPGEN_PARTS 7
#include "world.h"

namespace {
thread_local std::minstd_rand shim_draw(17);
}
/// At each access that others may meet.
void shim_pause() {
    if (shim_draw() % 64 != 0) return;
    if (shim_draw() % 8 == 0)
        std::this_thread::yield();
    else
        for (auto turns = shim_draw() % 500; turns != 0; --turns)
            __builtin_ia32_pause();
}

#include "c/aggregate_request.h"
#include "c/aggregate_rx.h"
#include "c/aggregate_tx.h"
#include "c/batch.h"
#include "invariants.h"

namespace {

constexpr int cpus = 4;

template <typename Work>
void on_all_cpus(Work work) {
    std::vector<std::thread> threads;
    for (int cpu = 0; cpu < cpus; ++cpu) {
        threads.emplace_back([cpu, &work] {
            shim_cpu = cpu;
            shim_draw.seed(static_cast<unsigned>(101 + cpu));
            shim_time = 1000;
            shim_tasks[0] = {17 + cpu, 17, "cpu"};
            work(cpu);
        });
    }
    for (auto& thread : threads)
        thread.join();
}

}  // namespace

TEST_CASE("segments are queued on one CPU and read on another, with a full table: each comes out once, or is counted") {
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    Socket sockets[9];
    std::atomic<long> unread = 0, popped = 0;
    std::atomic<bool> mixed = false;
    on_all_cpus([&](int cpu) {
        const void* fault = nullptr;
        for (int i = 0; i < 20'000; ++i) {
            auto& socket = sockets[shim_draw() % std::size(sockets)];
            const auto what = shim_draw() % 16;
            if (what < 8) {
                // What belongs together is told by its sum.
                stapgen_rx_queued packet{{0, 0}, 0, 0, 3, 1, 0, 0, 0, 0, shim_time += 3, {0, 0}};
                packet.driver = packet.transport - 2, packet.ip = packet.transport - 1;
                packet.device[0] = static_cast<u64>(packet.transport) ^ 101;
                packet.device[1] = static_cast<u64>(packet.transport) ^ 17;
                stapgen_insert_rx_queued(socket.key(), 0, &packet, 0);
            } else if (what < 15) {
                // The datagrams of a key: at most one waits, and a later one takes its place, unread.
                while (const auto* found = stapgen_pop_read(socket.key(), 1, 1, &fault)) {
                    ++popped;
                    const auto at = static_cast<u64>(found->transport);
                    if (found->driver != found->transport - 2 || found->ip != found->transport - 1 ||
                        found->device[0] != (at ^ 101) || found->device[1] != (at ^ 17))
                        mixed = true;
                }
            } else {
                unread += stapgen_erase_rx_queue(socket.key());
            }
            if (cpu == 0 && i % 1000 == 0) stapgen_snapshot_counts();
        }
    });
    CHECK_FALSE(mixed);
    CHECK_NOTHROW(rows_in_use(stapgen_rx_queues));
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_reported) == popped);
    CHECK(popped > 1009);
}

TEST_CASE(
    "TCP's segments of sockets that several CPUs fill, read and close, with a full table: none is lost, none mixed") {
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    clear(stapgen_rx_queues);
    Socket sockets[5];
    std::atomic<u32> ends[5] = {};
    std::atomic<long> closed = 0;
    std::atomic<bool> mixed = false;
    on_all_cpus([&](int) {
        for (int i = 0; i < 20'000; ++i) {
            const auto which = shim_draw() % 5;
            const auto queue = sockets[which].key();
            const auto what = shim_draw() % 16;
            if (what < 14) {
                const u32 end = ends[which] += 3;
                stapgen_rx_queued packet{
                    {0, 0}, 0, end, 3, 1, 0, end + 1LL, end + 1LL, end + 2LL, end + 3LL, {end, end ^ 17ULL}};
                stapgen_insert_rx_queued(queue, 1, &packet, end - 3);
            } else if (what < 15) {
                const stapgen_socket_id id{0, 0};
                const u32 copied = ends[which];
                // A reader that is slow, too: the table gets full.
                for (int most = 7; most > 0; --most) {
                    const auto* found = stapgen_pop_rx_queued(queue, &id, copied);
                    if (found == nullptr) break;
                    if (found->driver != found->end_seq + 1LL || found->transport != found->end_seq + 3LL ||
                        found->device[1] != (found->device[0] ^ 17) || s32(found->end_seq - copied) > 0)
                        mixed = true;
                    STAPGEN_ADD(rx_reported);
                }
            } else {
                closed += stapgen_erase_rx_queue(queue);
            }
        }
    });
    CHECK_FALSE(mixed);
    const long waiting = rows_in_use(stapgen_rx_queues);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_queued) ==
          stapgen_count_now(STAPGEN_COUNT_rx_reported) + stapgen_count_now(STAPGEN_COUNT_rx_retransmitted) +
              stapgen_count_now(STAPGEN_COUNT_rx_evicted) + closed + waiting);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_evicted) > 101);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_reported) > 101);
}

TEST_CASE("aliases that all CPUs write at once: a head belongs to its key, or there is none") {
    std::ranges::fill(stapgen_queued_skbs, stapgen_alias{});
    std::atomic<long> found = 0, wrong = 0;
    on_all_cpus([&](int) {
        for (int i = 0; i < 100'000; ++i) {
            // Few keys, of which many share a place.
            const unsigned long key = 0xffff888100000000 + (shim_draw() % 4096) * 256;
            const auto what = shim_draw() % 8;
            if (what < 3) {
                stapgen_set_alias(stapgen_queued_skbs, key, (key ^ 0x5500000000) + shim_draw() % 3 * 1024);
            } else if (what == 3) {
                stapgen_erase_alias(stapgen_queued_skbs, key);
            } else if (const auto head = stapgen_head_by_alias(stapgen_queued_skbs, key)) {
                ++found;
                const auto off = head - (key ^ 0x5500000000);
                wrong += off != 0 && off != 1024 && off != 2048;
            }
        }
    });
    CHECK(wrong == 0);
    CHECK(found > 101);
}

TEST_CASE("send calls and segments of sockets on several CPUs") {
    Socket sockets[cpus][3];
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    std::atomic<bool> mixed = false;
    on_all_cpus([&](int cpu) {
        u32 written[3] = {}, sent[3] = {};
        const void* fault = nullptr;
        for (int i = 0; i < 10'000; ++i) {
            const auto which = shim_draw() % 3;
            auto& socket = sockets[cpu][which];
            if (shim_draw() % 2 != 0) {
                socket.tcp.write_seq = written[which]++;
                stapgen_insert_tx_call(socket.sk(), 1, &fault);
            } else if (sent[which] != written[which]) {
                stapgen_tx_call call{};
                const auto id = stapgen_socket_id_of(socket.sk(), &fault);
                if (stapgen_find_tx_call(socket.key(), &id, sent[which], &call) == STAPGEN_CALL_FOUND)
                    mixed = mixed || call.seq != sent[which] || (u32)call.thread != static_cast<u32>(17 + cpu);
                ++sent[which];
            }
        }
        for (auto& socket : sockets[cpu])
            stapgen_erase_tx_calls(socket.key());
    });
    CHECK_FALSE(mixed);
    CHECK(rows_in_use(stapgen_tx_calls) == 0);
}

TEST_CASE("requests of sockets that several CPUs serve: all are answered, closed, or evicted") {
    Socket sockets[7];
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    std::atomic<long> answered = 0;
    on_all_cpus([&](int) {
        const void* fault = nullptr;
        for (int i = 0; i < 10'000; ++i) {
            auto& socket = sockets[shim_draw() % 7];
            const auto id = stapgen_socket_id_of(socket.sk(), &fault);
            stapgen_rx_packet packet{};
            packet.driver = packet.ip = packet.transport = ++shim_time;
            switch (shim_draw() % 8) {
                case 0:
                case 1:
                case 2:
                    stapgen_segment_arrives(socket.key(), &id, &packet, 17);
                    break;
                case 3:
                    stapgen_request_readable(socket.key());
                    break;
                case 4:
                    stapgen_thread_receives(socket.key());
                    stapgen_request_read(3, 1, &fault);
                    break;
                case 5:
                    stapgen_request_sent(socket.key(), &fault);
                    break;
                case 6: {
                    Packet reply(true, 3, 1);
                    while (stapgen_pop_answered(socket.key(), &reply.skb, &fault) != nullptr)
                        ++answered;
                    break;
                }
                default:
                    if (shim_draw() % 8 == 0) stapgen_socket_closes(socket.key());
                    if (i % 1000 == 0) stapgen_unread_requests();
            }
        }
    });
    const auto count = [](int what) { return stapgen_count_now(what); };
    CHECK(count(STAPGEN_COUNT_request_reported) == answered);
    CHECK(count(STAPGEN_COUNT_requests) ==
          count(STAPGEN_COUNT_request_evicted) + count(STAPGEN_COUNT_request_no_reply) +
              count(STAPGEN_COUNT_request_unread) + count(STAPGEN_COUNT_request_joined) + answered +
              rows_in_use(stapgen_requests));
    CHECK(answered > 101);
}

TEST_CASE("packets in sets, each on one CPU at a time") {
    std::memset(stapgen_tx_packets_places, 0, sizeof(stapgen_tx_packets_places));
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    std::atomic<bool> mixed = false;
    on_all_cpus([&](int cpu) {
        const void* fault = nullptr;
        for (int i = 0; i < 20'000; ++i) {
            Packet packet(false, 3);
            const s64 called = 1000 * i + cpu;
            stapgen_tx_at_udp(&packet.skb, called, 3, &fault);
            stapgen_tx_at_ip(&packet.skb, &fault);
            stapgen_tx_at_device(&packet.skb, 1, &fault);
            const auto* left = stapgen_pop_tx_packet(&packet.skb, &fault);
            if (left == nullptr || left->called != called) mixed = true;
        }
    });
    CHECK_FALSE(mixed);
    CHECK(stapgen_count_now(STAPGEN_COUNT_tx_reported) == cpus * 20'000);
}

TEST_CASE("records are aggregated on all CPUs while they are printed: none is lost") {
    std::atomic<bool> ends = false;
    long printed = 0;
    std::thread printer([&] {
        const auto print = [&] {
            stapgen_print_histogram("rx", "a", 0);
            stapgen_print_splits("rx", "-", 0);
        };
        while (!ends)
            print();
        print();
        printed = stapgen_printed_records(0);
    });
    on_all_cpus([&](int) {
        for (int i = 0; i < 20'000; ++i) {
            const s64 no = STAPGEN_NO_STAGE;
            const s64 stages[] = {static_cast<s64>(shim_draw() % 100'000), 17, no, no, no, no, no, no};
            stapgen_aggregate_record(0, 0, stages);
        }
    });
    ends = true;
    printer.join();
    CHECK(printed == cpus * 20'000);
}

TEST_CASE("lines of several CPUs, some with one batch, while a timer hands them over: each comes once, and whole") {
    constexpr int lines = 20'000;
    for (const int apart : {1, int{STAPGEN_BATCHES}}) {
        std::memset(stapgen_batches, 0, sizeof(stapgen_batches));
        stapgen_keep_lines();
        std::mutex mutex;
        std::map<std::string, int> printed;
        const auto take = [&] {
            const std::scoped_lock lock(mutex);
            std::istringstream all(shim_printed);
            for (std::string line; std::getline(all, line);)
                ++printed[line];
            CHECK((shim_printed.empty() || shim_printed.back() == '\n'));
            shim_printed.clear();
        };
        on_all_cpus([&](int cpu) {
            shim_cpu = cpu * apart;
            for (int i = 0; i < lines; ++i) {
                if (cpu == cpus - 1) {
                    if (i % 10 == 0) stapgen_hand_over_all();
                    continue;
                }
                stapgen_line line;
                line.length = 0;
                stapgen_put_number(&line, cpu);
                stapgen_put_number(&line, i);
                for (auto more = shim_draw() % 200; more != 0; --more)
                    stapgen_put_byte(&line, 'x');
                stapgen_print_record(&line);
            }
            take();
        });
        stapgen_hand_over_all();
        take();
        CHECK(printed.size() == static_cast<std::size_t>(lines * (cpus - 1)));
        long sum = 0;
        for (const auto& [line, times] : printed) {
            CHECK(times == 1);
            int cpu = -1, i = -1;
            if (std::sscanf(line.c_str(), "\t%d\t%d", &cpu, &i) == 2) sum += i;
        }
        CHECK(sum == (cpus - 1) * (lines * (lines - 1L) / 2));
        stapgen_keeps_lines = 0;
    }
}
