// SPDX-License-Identifier: GPL-2.0-or-later
// What received packets wait for within tcp-app: tapsets/c/thread_time.h, rx_wait.h.
#define STAPGEN_WAITS 1
#define STAPGEN_FIELDS 51
#define STAPGEN_DIRECTIONS 2

#include "receiver_world.h"

// receiver_world.h is first: the kernel's names would be in the way of C++'s.
#include "c/print_rx.h"

TEST_CASE("what a thread did since it was looked at is known, however often it came and went") {
    for (unsigned seed = 1; seed <= 500; seed++) {
        Thread thread(seed);
        stapgen_thread_time then, now;
        const int starts = int(seed % 3), rounds = int(thread.random() % 4);
        thread.run_for(thread.some());
        // It runs, waits for a CPU or sleeps as it is looked at.
        if (starts) thread.leaves();
        if (starts == 1) thread.wait_for_cpu(thread.some());
        if (starts == 2) thread.sleep_for(thread.some());
        stapgen_read_thread(&then, &thread.task);
        thread.ran = thread.delayed = thread.slept = 0;
        if (starts == 1) {
            const s64 more = thread.some();
            shim_time += more, thread.delayed += more;
        }
        if (starts == 2) {
            const s64 more = thread.some() + STAPGEN_WAKEUP_NS;
            shim_time += more, thread.slept += more;
            thread.wait_for_cpu(thread.some());
        }
        if (starts) thread.gets_cpu();
        for (int i = 0; i < rounds; i++) {
            thread.run_for(thread.some());
            thread.leaves();
            if (thread.random() % 2) thread.sleep_for(thread.some());
            thread.wait_for_cpu(thread.some());
            thread.gets_cpu();
        }
        thread.run_for(thread.some());
        const s64 to = shim_time;
        stapgen_read_thread(&now, &thread.task);
        stapgen_waits waits{};
        stapgen_divide_since(&waits, to, nullptr, &then, &now);
        Parts parts = parts_of(waits, rx_causes);
        INFO(seed);
        CHECK(sum_of(parts) == to - then.at);
        CHECK(std::abs(parts["program"] - thread.ran) < 20);
        CHECK(std::abs(parts["run-queue"] - thread.delayed) < 20);
        CHECK(std::abs(parts["asleep"] + parts["wake-up"] - thread.slept) < 20);
    }
}

TEST_CASE("what a thread did since it was seen is known where it left its CPU once, and not where it left it twice") {
    for (unsigned seed = 1; seed <= 500; seed++) {
        Thread thread(seed);
        stapgen_thread_time then, now;
        struct Phase {
            s64 from, to;
            char kind;  // runs, sleeps, queued
        };
        std::vector<Phase> phases;
        const auto phase = [&](char kind, const auto& does) {
            const s64 from = shim_time;
            does();
            phases.push_back({from, shim_time, kind});
        };
        const auto runs = [&] { thread.run_for(thread.some()); };
        runs();
        stapgen_read_thread(&then, &thread.task);
        phase('r', runs);
        const int rounds = int(seed % 3);
        for (int i = 0; i < rounds; i++) {
            thread.leaves();
            if (thread.random() % 2)
                phase('s', [&] { thread.sleep_for(thread.some() * (thread.random() % 2 ? 1 : 10)); });
            phase('q', [&] { thread.wait_for_cpu(thread.some()); });
            thread.gets_cpu();
            phase('r', runs);
        }
        const s64 to = shim_time, from = then.at + s64(thread.random() % u64(to - then.at)),
                  arrived = phases.back().from;
        stapgen_rx_thread noted{};
        noted.called = thread.random() % 2 ? then.at + s64(thread.random() % u64(to - then.at)) : 0;
        stapgen_read_thread(&now, &thread.task);
        stapgen_waits waits{};
        stapgen_divide_from(&waits, from, to, &noted, &then, &now);

        Parts expected;
        const bool is_divided = rounds < 2 || arrived <= from;
        if (!is_divided) expected["undivided"] = arrived - from;
        for (const Phase& part : phases) {
            const s64 begin = std::max(part.from, from), all = part.to - begin;
            if (all <= 0 || (!is_divided && part.from < arrived)) continue;
            const s64 called = noted.called ? std::clamp(noted.called, begin, part.to) : part.to;
            if (part.kind == 'r') expected["program"] += called - begin, expected["recv-call"] += part.to - called;
            if (part.kind == 'q') expected["run-queue"] += all;
            // It slept already, and was woken soon.
            if (part.kind == 's') expected[part.from < from && all < STAPGEN_WAKEUP_NS ? "wake-up" : "asleep"] += all;
        }
        Parts parts = parts_of(waits, rx_causes);
        INFO(seed);
        CHECK(sum_of(parts) == to - from);
        for (const char* cause : {"program", "recv-call", "run-queue", "asleep", "wake-up", "undivided"}) {
            INFO(cause);
            CHECK(std::abs(parts[cause] - expected[cause]) < 20);
        }
    }
}

TEST_CASE("a packet whose thread was never seen is divided since it has its CPU") {
    Receiver receiver;
    receiver.thread.leaves();
    receiver.comes(0, 101);
    receiver.thread.sleep_for(5000);
    receiver.thread.wait_for_cpu(3000);
    receiver.thread.gets_cpu();
    receiver.thread.run_for(700);
    const auto parts = receiver.reads(101);
    REQUIRE(parts.size() == 1);
    check_cause(parts[0], "undivided", 8000);
    check_cause(parts[0], "program", 700);
}

TEST_CASE("a thread that has ended is not looked at") {
    Receiver receiver;
    receiver.comes(0, 101);
    receiver.reads(101);
    stapgen_thread_time time{};
    CHECK(stapgen_look_at_thread(&time, &receiver.thread.task, 21) == 1);
    CHECK(stapgen_look_at_thread(&time, &receiver.thread.task, 22) == 0);
    stapgen_rx_thread_ends();
    CHECK(stapgen_look_at_thread(&time, &receiver.thread.task, 21) == 0);
}

TEST_CASE("a received packet waits for what comes before it, then for its thread") {
    Receiver receiver;
    receiver.comes(0, 101);
    receiver.reads(101);
    SUBCASE("a thread that sleeps is woken") {
        receiver.thread.leaves();
        receiver.comes(101, 103);
        receiver.thread.sleep_for(400);
        receiver.thread.wait_for_cpu(3000);
        receiver.thread.gets_cpu();
        receiver.thread.run_for(700);
        const auto parts = receiver.reads(204);
        REQUIRE(parts.size() == 1);
        check_cause(parts[0], "wake-up", 400);
        check_cause(parts[0], "run-queue", 3000);
        check_cause(parts[0], "program", 700);
    }
    SUBCASE("earlier bytes are missing") {
        receiver.comes(204, 107);
        shim_time += 6000;
        receiver.comes(101, 103);
        receiver.thread.run_for(700);
        const auto parts = receiver.reads(311);
        REQUIRE(parts.size() == 2);
        CHECK(parts[0].count("missing-bytes") == 0);
        check_cause(parts[1], "missing-bytes", 6000);
        CHECK(std::abs(parts[1].at("program") - 700) < 30);
    }
    SUBCASE("a thread holds the socket") {
        receiver.socket.sk()->sk_lock.owned = 1;
        Packet& packet = receiver.comes(101, 103);
        shim_time += 2000;
        receiver.meets_socket(packet);
        receiver.socket.sk()->sk_lock.owned = 0;
        receiver.tcp().rcv_nxt = 204;
        receiver.thread.run_for(700);
        const auto parts = receiver.reads(204);
        REQUIRE(parts.size() == 1);
        check_cause(parts[0], "backlog", 2000);
        CHECK(parts[0].count("undivided") == 0);
    }
    SUBCASE("there is less than the program wants") {
        receiver.socket.sk()->sk_rcvlowat = 200;
        receiver.comes(101, 103);
        shim_time += 4000;
        receiver.comes(204, 107);
        receiver.thread.run_for(700);
        const auto parts = receiver.reads(311);
        REQUIRE(parts.size() == 2);
        check_cause(parts[0], "rcvlowat", 4000);
        CHECK(parts[1].count("rcvlowat") == 0);
    }
    SUBCASE("earlier bytes are read by an earlier call") {
        receiver.comes(101, 103);
        receiver.comes(204, 107);
        shim_time += 4000;
        CHECK(receiver.reads(204).size() == 1);
        receiver.thread.run_for(900);
        const auto parts = receiver.reads(311);
        REQUIRE(parts.size() == 1);
        CHECK(parts[0].count("unread-bytes") == 0);
        CHECK(std::abs(parts[0].at("program") - 4900) < 30);
    }
    SUBCASE("what the thread does before it reads earlier bytes") {
        receiver.comes(101, 103);
        receiver.comes(204, 107);
        receiver.thread.run_for(300);
        receiver.thread.leaves();
        receiver.thread.sleep_for(300000);
        receiver.thread.wait_for_cpu(20000);
        receiver.thread.gets_cpu();
        CHECK(receiver.reads(204).size() == 1);
        receiver.thread.run_for(900);
        const auto parts = receiver.reads(311);
        REQUIRE(parts.size() == 1);
        CHECK(parts[0].count("unread-bytes") == 0);
        CHECK(std::abs(parts[0].at("asleep") - 300000) < 60);
        CHECK(std::abs(parts[0].at("run-queue") - 20000) < 60);
        CHECK(std::abs(parts[0].at("program") - 1200) < 60);
    }
    SUBCASE("earlier bytes are read by a thread that had not read before") {
        receiver.comes(101, 103);
        receiver.comes(204, 107);
        shim_time += 4000;
        receiver.thread.task.pid = 22;
        CHECK(receiver.reads(204).size() == 1);
        receiver.thread.run_for(900);
        const auto parts = receiver.reads(311);
        REQUIRE(parts.size() == 1);
        check_cause(parts[0], "unread-bytes", 4000);
        CHECK(std::abs(parts[0].at("program") - 900) < 30);
    }
    SUBCASE("a packet's own bytes are read in parts") {
        receiver.tcp().copied_seq = 101;
        receiver.comes(101, 200);
        receiver.thread.run_for(700);
        CHECK(receiver.reads(106).empty());
        receiver.thread.run_for(9000);
        const auto parts = receiver.reads(301);
        REQUIRE(parts.size() == 1);
        CHECK(parts[0].count("unread-bytes") == 0);
        CHECK(std::abs(parts[0].at("program") - 9700) < 40);
    }
    SUBCASE("what the thread does between both calls is known, however often it comes and goes") {
        receiver.comes(101, 103);
        receiver.comes(204, 107);
        CHECK(receiver.reads(204).size() == 1);
        for (int i = 0; i < 3; i++) {
            receiver.thread.run_for(300);
            receiver.thread.leaves();
            receiver.thread.sleep_for(5000);
            receiver.thread.wait_for_cpu(200);
            receiver.thread.gets_cpu();
        }
        const auto parts = receiver.reads(311);
        REQUIRE(parts.size() == 1);
        CHECK(parts[0].count("undivided") == 0);
        CHECK(std::abs(parts[0].at("asleep") - 15000) < 30);
        CHECK(std::abs(parts[0].at("run-queue") - 600) < 30);
        CHECK(std::abs(parts[0].at("program") - 900) < 30);
    }
    SUBCASE("of a thread that read another socket since it is not known what it did before") {
        stapgen_rx_thread_ends();
        receiver.comes(101, 103);
        shim_time += 2000;
        stapgen_thread_time time{};
        stapgen_read_thread(&time, &receiver.thread.task);
        stapgen_note_rx_reader(0x7000, &time);
        receiver.thread.run_for(300);
        receiver.thread.leaves();
        receiver.thread.sleep_for(4000);
        receiver.thread.wait_for_cpu(10);
        receiver.thread.gets_cpu();
        receiver.thread.run_for(500);
        const auto parts = receiver.reads(204);
        REQUIRE(parts.size() == 1);
        check_cause(parts[0], "undivided", 6310);
        check_cause(parts[0], "program", 500);
    }
    SUBCASE("what does not add up is not divided") {
        stapgen_rx_wait wait{};
        wait.was_in_backlog = 1;
        const s64 now = shim_now();
        wait.processed = now - 7000, wait.ready = wait.wanted = now - 500;
        stapgen_waits waits;
        stapgen_divide_to_app(&waits, &wait, now - 5000, now);
        CHECK(parts_of(waits, rx_causes) == Parts{{"undivided", 5000}});
    }
    SUBCASE("earlier bytes are read by the same call") {
        receiver.comes(101, 103);
        receiver.comes(204, 107);
        receiver.thread.run_for(4000);
        CHECK(receiver.reads(204).size() == 1);
        receiver.thread.run_for(900);
        const auto parts = receiver.reads(311, false);
        REQUIRE(parts.size() == 1);
        CHECK(parts[0].count("unread-bytes") == 0);
        CHECK(std::abs(parts[0].at("program") - 4000) < 40);
        CHECK(std::abs(parts[0].at("recv-call") - 900) < 40);
    }
}

TEST_CASE("the parts of a record are those that are aggregated, behind the stages of its direction") {
    static_assert(STAPGEN_RX_STAGES == 6);
    std::memset(stapgen_stripes, 0, sizeof(stapgen_stripes));
    Receiver receiver;
    const stapgen_ends ends{receiver.socket.sk(), receiver.socket.sk(), 1, 1, 2};
    const auto print = [&](const sk_buff* skb) {
        shim_printed.clear();
        stapgen_print_rx("rx", "", "\trest", 9000, skb, &ends, &receiver.fault);
        std::vector<std::string> words(1);
        for (const char c : shim_printed) {
            if (c == '\t')
                words.emplace_back();
            else
                words.back() += c;
        }
        return words;
    };
    auto& packet = *STAPGEN_THIS_CPU(stapgen_rx_popped);
    auto& wait = *STAPGEN_THIS_CPU(stapgen_rx_popped_wait);
    packet = {};
    wait = {};
    packet.driver = packet.handed = 1000, packet.ip = 1100, packet.transport = 2000;
    // Nothing is known of its reader: stack and undivided.
    receiver.thread.task.pid = 0;
    wait.ready = wait.wanted = 2300;
    constexpr int stages = 10, parts = stages + STAPGEN_RX_STAGES;
    SUBCASE("of a segment") {
        const auto words = print(nullptr);
        REQUIRE(words.size() == parts + STAPGEN_RX_PARTS + 1);
        CHECK(words[stages + STAPGEN_TCP_APP] == "7000");
        CHECK(words[parts + STAPGEN_RX_WAIT_stack] == "300");
        CHECK(words[parts + STAPGEN_RX_WAIT_undivided] == "6700");
        CHECK(words.back() == "rest\n");
    }
    SUBCASE("of a datagram") {
        Packet datagram(false, 9, 0);
        const auto words = print(&datagram.skb);
        REQUIRE(words.size() == parts + STAPGEN_RX_PARTS + 1);
        CHECK(words[stages + STAPGEN_UDP_APP] == "7000");
        CHECK(words[parts + STAPGEN_RX_WAIT_stack] == "-");
        CHECK(words[parts + STAPGEN_RX_CAUSES] == "300");
        CHECK(words[parts + STAPGEN_RX_PARTS - 1] == "6700");
    }
    SUBCASE("of one that is aggregated") {
        receiver.comes(0, 101);
        shim_time += 5000;
        receiver.tcp().copied_seq = 101;
        const s64 now = shim_now();
        stapgen_aggregate_read(receiver.socket.key(), now, 0, 1, &receiver.fault);
        const u64* sum = stapgen_stripes[0].of.sum;
        u64 of_parts = 0;
        for (int cause = 0; cause < STAPGEN_RX_CAUSES; cause++)
            of_parts += sum[STAPGEN_RX_STAGES + cause];
        CHECK(sum[STAPGEN_TCP_APP] >= 5000);
        CHECK(of_parts == sum[STAPGEN_TCP_APP]);
    }
}

TEST_CASE("of what is read the segments are counted that GRO has merged, and the calls that take something") {
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    Receiver receiver;
    const auto comes = [&](u32 seq, unsigned short segments, unsigned short size) {
        Packet& packet = *receiver.packets.emplace_back(std::make_unique<Packet>(true, 701, seq));
        auto& info = const_cast<skb_shared_info&>(*skb_shinfo(&packet.skb));
        info.gso_segs = segments;
        info.gso_size = size;
        stapgen_rx_at_driver(&packet.skb, &receiver.fault);
        stapgen_rx_at_ip(&packet.skb, &receiver.fault);
        stapgen_rx_at_transport(&packet.skb, 1, &receiver.fault);
        receiver.meets_socket(packet);
    };
    comes(0, 7, 101);
    comes(701, 0, 0);
    // 701 bytes in segments of 103, which a virtual machine's host has not counted.
    comes(1402, 0, 103);
    CHECK(receiver.reads(1402).size() == 2);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_wire_segments) == 8);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_recv_calls) == 1);
    shim_time += 17;
    CHECK(receiver.reads(2103).size() == 1);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_wire_segments) == 15);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_recv_calls) == 2);
    // A call that takes nothing, and one more piece of the same call.
    receiver.reads(2103);
    comes(2103, 1, 0);
    comes(2804, 1, 0);
    shim_time += 17;
    receiver.reads(2804);
    receiver.reads(3505, false);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_wire_segments) == 17);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_recv_calls) == 3);
}
