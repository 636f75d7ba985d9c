// SPDX-License-Identifier: GPL-2.0-or-later
// Questions: requests as their clients' sockets see them: tapsets/c/ask.h.
#include <doctest/doctest.h>

#define STAPGEN_BOTH_ENDS 1
#define STAPGEN_QUESTIONS 5
#include "world.h"

// world.h is first: it has what the C is made of.
#include <optional>
#include <random>

#include "c/ask.h"
#include "c/print_end.h"
#include "model.h"

namespace {

struct World {
    const void* fault = nullptr;

    World() {
        clear(stapgen_questions);
        clear(stapgen_threads);
        std::memset(stapgen_counts, 0, sizeof(stapgen_counts));
        std::memset(stapgen_batches, 0, sizeof(stapgen_batches));
        stapgen_keeps_lines = 0;
        shim_printed.clear();
        stapgen_server_port = 0;
        stapgen_one_request_in = 1;
        stapgen_brief_below = 0;
        shim_tasks[0] = {101, 100, "asker"};
        shim_task = 0;
        shim_time = 1000;
    }
    void asks(Socket& socket) {
        const stapgen_for none{};
        stapgen_question_is_asked(socket.sk(), &none, &fault);
    }
    /// By what has left, if not said: the other end had all of it.
    void answered(Socket& socket, s64 driver, u32 seq, std::optional<u32> ack = {}) {
        const auto id = stapgen_socket_id_of(socket.sk(), &fault);
        stapgen_rx_packet packet{};
        packet.driver = driver;
        packet.ip = driver != 0 ? driver + 3 : 0;
        const auto at = stapgen_first_row(&stapgen_questions, socket.key());
        stapgen_question_is_answered(socket.key(), &id, &packet, seq,
                                     ack.value_or(stapgen_questions_rows[at].of.end_seq));
    }
    void read(Socket& socket, int is_target = 1) {
        stapgen_thread_receives(socket.key());
        stapgen_asker asker{};
        stapgen_question_is_read(
            socket.key(), reinterpret_cast<stapgen_thread*>(stapgen_find(stapgen_threads, stapgen_this_thread_key())),
            is_target, &asker);
    }
    long count(int what) { return stapgen_count_now(what); }
};

}  // namespace

TEST_CASE("which end a socket is, its port says, or the lower one of both") {
    World world;
    Socket socket(4001);  // its own port is 11211
    CHECK(stapgen_end_of(socket.sk(), &world.fault) == STAPGEN_CLIENT);
    stapgen_server_port = 11211;
    CHECK(stapgen_end_of(socket.sk(), &world.fault) == STAPGEN_SERVER);
    stapgen_server_port = 4001;
    CHECK(stapgen_end_of(socket.sk(), &world.fault) == STAPGEN_CLIENT);
    stapgen_server_port = 443;
    CHECK(stapgen_end_of(socket.sk(), &world.fault) == STAPGEN_NO_END);
    socket.tcp.inet.inet_dport = 0;  // a listener
    CHECK(stapgen_end_of(socket.sk(), &world.fault) == STAPGEN_NO_END);
    stapgen_server_port = 11211;
    CHECK(stapgen_end_of(socket.sk(), &world.fault) == STAPGEN_SERVER);
}

TEST_CASE("a question in pieces, and its reply in pieces, are one record") {
    World world;
    Socket socket(4001);
    // 693 and 8900 were the first bytes, behind 5 GB of both.
    constexpr u64 many = 5'000'000'000;
    socket.tcp.write_seq = 700;
    socket.tcp.snd_una = 700;
    socket.tcp.bytes_acked = 8;
    socket.tcp.rcv_nxt = static_cast<u32>(8900 + many);
    socket.tcp.bytes_received = many;
    shim_time = 10'000;
    world.asks(socket);
    stapgen_question_leaves(socket.key(), 711);
    socket.tcp.write_seq = 711;
    shim_time = 10'100;
    world.asks(socket);
    shim_time = 10'200;
    stapgen_question_leaves(socket.key(), 717);
    stapgen_question_leaves(socket.key(), 711);  // sent again
    world.answered(socket, 13'000, 9001);
    shim_time = 13'100;
    stapgen_question_is_readable(socket.key());
    world.read(socket);
    world.answered(socket, 17'000, 9101);
    shim_time = 17'300;
    world.read(socket);
    CHECK(shim_printed.empty());
    socket.tcp.write_seq = 717;
    world.asks(socket);
    // ask 200, away 2800, rx 3, readable 97, ..., total, arriving.
    CHECK(shim_printed.find("\tclient\t") != std::string::npos);
    CHECK(shim_printed.find("\t700\t9001\t7\t101\t") != std::string::npos);
    CHECK(shim_printed.ends_with("\t4000\n"));
    CHECK(world.count(STAPGEN_COUNT_question_reported) == 1);
    CHECK(world.count(STAPGEN_COUNT_questions) == 2);
}

TEST_CASE("of a question that took less than it is asked for there is what joins it") {
    World world;
    Socket socket(4001);
    stapgen_brief_below = 5'000;
    for (const s64 took : {4'998, 5'000}) {
        shim_time = 10'000;
        world.asks(socket);
        stapgen_question_leaves(socket.key(), socket.tcp.write_seq += 7);
        world.answered(socket, 10'900, 9001);
        shim_time = 10'000 + took;
        world.read(socket);
    }
    stapgen_question_ends(socket.key());
    CAPTURE(shim_printed);
    CHECK(shim_printed.starts_with("brief\t15000\tclient\t0\t9001\t1\t898\t4999\t0\nends\t15002\t"));
    CHECK(world.count(STAPGEN_COUNT_ends_brief) == 1);
    CHECK(world.count(STAPGEN_COUNT_question_reported) == 2);
}

TEST_CASE("more that is sent before the reply is read is another question, and counted") {
    World world;
    Socket socket(4001);
    world.asks(socket);
    stapgen_question_leaves(socket.key(), 9);
    world.answered(socket, 13'000, 9001);
    world.asks(socket);
    CHECK(world.count(STAPGEN_COUNT_question_overlapping) == 1);
    CHECK(world.count(STAPGEN_COUNT_questions) == 2);
}

TEST_CASE("a reply that the other end sends before it has all of a question is none, and counted") {
    World world;
    Socket socket(4001);
    world.asks(socket);
    stapgen_question_leaves(socket.key(), 9);
    world.asks(socket);
    stapgen_question_leaves(socket.key(), 17);
    world.answered(socket, 13'000, 9001, 9);
    CHECK(world.count(STAPGEN_COUNT_question_overlapping) == 1);
    world.read(socket);
    // What has left is there, and more of it leaves behind the reply.
    socket.tcp.write_seq = 17;
    world.asks(socket);
    stapgen_question_leaves(socket.key(), 23);
    world.answered(socket, 15'000, 9102, 23);
    stapgen_question_leaves(socket.key(), 29);
    world.read(socket);
    CHECK(world.count(STAPGEN_COUNT_question_overlapping) == 2);
    CHECK(world.count(STAPGEN_COUNT_questions) == 2);
    stapgen_questions_end();
    CHECK(shim_printed.empty());
}

TEST_CASE("both ends choose the same") {
    stapgen_one_request_in = 8;
    int chosen = 0;
    for (u32 seq = 0; seq < 80'000; ++seq)
        chosen += stapgen_is_chosen(seq * 64);
    CHECK(chosen > 9'000);
    CHECK(chosen < 11'000);
    stapgen_one_request_in = 1;
    CHECK(stapgen_is_chosen(17));
}

TEST_CASE("whatever happens, each question is one count, and nothing stays behind") {
    World world;
    std::vector<Socket> sockets;
    for (u16 i = 0; i < 7; ++i)
        sockets.emplace_back(static_cast<u16>(4001 + i), 17 + i);
    std::mt19937 random(31);
    for (int i = 0; i < 100'003; ++i) {
        auto& socket = sockets[random() % sockets.size()];
        shim_time += 1 + static_cast<s64>(random() % 100);
        switch (random() % 8) {
            case 0:
            case 1:
                world.asks(socket);
                socket.tcp.write_seq += 11;
                break;
            case 2:
                stapgen_question_leaves(socket.key(), socket.tcp.write_seq);
                break;
            case 3:
                world.answered(socket, random() % 7 != 0 ? shim_time - 1 : 0, static_cast<u32>(random()),
                               socket.tcp.write_seq - (random() % 4 == 0 ? 7 : 0));
                break;
            case 4:
                stapgen_question_is_readable(socket.key());
                break;
            case 5:
            case 6:
                world.read(socket, random() % 11 != 0);
                break;
            default:
                if (random() % 5 == 0) {
                    stapgen_question_ends(socket.key());
                    socket.becomes(static_cast<u16>(4001 + random() % 97), random());
                }
        }
        REQUIRE(world.fault == nullptr);
    }
    stapgen_questions_end();
    long ended = 0;
    for (const auto what :
         {STAPGEN_COUNT_question_unanswered, STAPGEN_COUNT_question_overlapping, STAPGEN_COUNT_question_no_driver,
          STAPGEN_COUNT_question_read_by_others, STAPGEN_COUNT_question_evicted, STAPGEN_COUNT_question_not_chosen,
          STAPGEN_COUNT_question_reported})
        ended += world.count(what);
    CHECK(world.count(STAPGEN_COUNT_questions) == ended);
    CHECK(world.count(STAPGEN_COUNT_question_reported) > 101);
    for (int list = 0; list < STAPGEN_LISTS; ++list)
        REQUIRE(stapgen_questions.lists[list].first == 0);
}
