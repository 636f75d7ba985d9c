// SPDX-License-Identifier: GPL-2.0-or-later
// For which request a question is asked: tapsets/c/print_end.h.
#include <doctest/doctest.h>

#include "turn_world.h"

// turn_world.h is first: it has what the C is made of.
#include <random>

using World = TurnWorld;

TEST_CASE("a host in the middle is the server of one port, and the client of another") {
    World world;
    CHECK(stapgen_end_of(world.clients[0].sk(), &world.fault) == STAPGEN_SERVER);
    CHECK(stapgen_end_of(world.servers[0].sk(), &world.fault) == STAPGEN_CLIENT);
    stapgen_behind_port = 0;
    CHECK(stapgen_end_of(world.servers[0].sk(), &world.fault) == STAPGEN_NO_END);
}

TEST_CASE("what a thread asks between a request and its reply is for it, one after the other") {
    World world;
    auto& client = world.clients[0];
    auto &first = world.servers[0], &second = world.servers[1];
    const auto seq = world.reads(client);
    world.sends(first);
    CHECK(world.is_for(first, client, seq));
    world.reply_comes(first);
    world.receives(first);
    world.sends(second);
    CHECK(world.is_for(second, client, seq));
    // It waits in poll for that, and finds a part of it; then the rest.
    world.waits();
    world.receives(second, -EAGAIN);
    world.reply_comes(second);
    world.waits();
    world.receives(second);
    world.waits();
    world.receives(second);
    world.sends(first);
    CHECK(world.is_for(first, client, seq));
    CHECK(shim_printed.find("\t" + std::to_string(seq) + "\t" + std::to_string(client.tcp.snd_una) + "\t") !=
          std::string::npos);
    world.sends(client);
    world.sends(second);
    CHECK(world.is_for_none(second));
    CHECK(!World::hands_over());
}

TEST_CASE("two questions at once are for the request of the turn") {
    World world;
    const auto seq = world.reads(world.clients[0]);
    world.sends(world.servers[0]);
    world.sends(world.servers[1]);
    CHECK(world.is_for(world.servers[0], world.clients[0], seq));
    CHECK(world.is_for(world.servers[1], world.clients[0], seq));
}

TEST_CASE("a request that is read in parts is one, and a question in parts, too") {
    World world;
    auto& client = world.clients[0];
    const auto seq = world.reads(client);
    world.receives(client, -EAGAIN);
    world.waits();
    world.reads(client);
    world.sends(world.servers[0]);
    world.sends(world.servers[0]);
    CHECK(world.is_for(world.servers[0], client, seq));
}

TEST_CASE("a loop over many connections: each question is for the request whose bytes were read before it") {
    World world;
    std::array<u32, 3> seq{};
    for (std::size_t i = 0; i < seq.size(); ++i) {
        world.waits();
        seq[i] = world.reads(world.clients[i]);
        world.sends(world.servers[i]);
        CHECK(world.is_for(world.servers[i], world.clients[i], seq[i]));
    }
    // The last is answered first, and asks again.
    for (const std::size_t i : {2, 0, 1}) {
        world.reply_comes(world.servers[i]);
        world.waits();
        world.receives(world.servers[i]);
        world.sends(world.servers[i]);
        CHECK(world.is_for(world.servers[i], world.clients[i], seq[i]));
    }
}

TEST_CASE("without a turn no request is known") {
    World world;
    auto& server = world.servers[0];
    SUBCASE("before any") {}
    SUBCASE("behind a wait") {
        world.reads(world.clients[0]);
        world.waits();
    }
    SUBCASE("behind a wait without events") {
        world.reads(world.clients[0]);
        world.waits(0);
    }
    SUBCASE("behind a look at another socket") {
        world.reads(world.clients[0]);
        world.receives(world.clients[1], -EAGAIN);
    }
    SUBCASE("behind a datagram") {
        world.reads(world.clients[0]);
        stapgen_thread_receives(0);
    }
    SUBCASE("behind the reply") {
        world.reads(world.clients[0]);
        world.sends(world.clients[0]);
    }
    SUBCASE("behind another's reply") {
        world.reads(world.clients[1]);
        world.reads(world.clients[0]);
        world.sends(world.clients[1]);
    }
    SUBCASE("of a sample") {
        stapgen_one_request_in = 8;
        world.reads(world.clients[0]);
    }
    world.sends(server);
    CHECK(world.is_for_none(server));
}

TEST_CASE("while a request is laid aside, no question is for one that is known") {
    World world;
    // A loop of tasks: two are read, and then both ask.
    world.waits();
    const auto first = world.reads(world.clients[0]);
    const auto second = world.reads(world.clients[1]);
    world.sends(world.servers[0]);
    world.sends(world.servers[1]);
    CHECK(world.is_for_none(world.servers[0]));
    CHECK(world.is_for_none(world.servers[1]));
    CHECK(first != second);
    // Both have their reply: a third is not in doubt.
    world.sends(world.clients[1]);
    world.sends(world.clients[0]);
    world.waits();
    const auto third = world.reads(world.clients[2]);
    world.sends(world.servers[2]);
    CHECK(world.is_for(world.servers[2], world.clients[2], third));
}

TEST_CASE("what is laid aside when its connection closes is no more") {
    World world;
    world.reads(world.clients[0]);
    world.waits();
    const auto seq = world.reads(world.clients[1]);
    stapgen_socket_closes(world.clients[0].key());
    world.sends(world.servers[0]);
    CHECK(world.is_for(world.servers[0], world.clients[1], seq));
}

TEST_CASE("what is laid aside and has its reply takes no room") {
    World world;
    for (auto& client : world.clients) {
        world.reads(client);
        world.waits();
        world.sends(client);
    }
    // Their connections' next ones begin behind the replies.
    for (auto& client : world.clients)
        stapgen_socket_closes(client.key());
    const auto seq = world.reads(world.clients[0]);
    world.sends(world.servers[0]);
    CHECK(world.is_for(world.servers[0], world.clients[0], seq));
}

TEST_CASE("a wait that ends without events is none that a request waited in") {
    World world;
    shim_time = 10'007;
    world.waits(3);
    shim_time = 10'111;
    world.waits(0);
    const auto* thread = reinterpret_cast<stapgen_thread*>(stapgen_find(stapgen_threads, stapgen_this_thread_key()));
    REQUIRE(thread != nullptr);
    CHECK(thread->woken < 10'111);
    CHECK(thread->events == 3);
}

TEST_CASE("where more is laid aside than there is room for, nothing is known of the thread any more") {
    World world;
    for (std::size_t i = 0; i < World::many; ++i) {
        world.waits();
        world.reads(world.clients[i]);
    }
    for (auto& client : world.clients)
        world.sends(client);
    world.reads(world.clients[0]);
    world.sends(world.servers[0]);
    CHECK(world.is_for_none(world.servers[0]));
}

TEST_CASE("a reply after which its request asks nothing lays it aside") {
    World world;
    const auto seq = world.reads(world.clients[0]);
    world.sends(world.servers[0]);
    CHECK(world.is_for(world.servers[0], world.clients[0], seq));
    world.reply_comes(world.servers[0]);
    world.receives(world.servers[0]);
    world.waits();
    world.reads(world.clients[1]);
    world.sends(world.servers[1]);
    CHECK(world.is_for_none(world.servers[1]));
}

TEST_CASE("of several requests of one connection none is known") {
    World world;
    auto& client = world.clients[0];
    const auto seq = world.reads(client);
    world.sends(world.servers[0]);
    CHECK(world.is_for(world.servers[0], client, seq));
    world.reads(client);
    world.sends(world.servers[1]);
    CHECK(world.is_for_none(world.servers[1]));
    // Nor behind the reply to the first one's question, which was for it.
    CHECK(world.is_for(world.servers[0], client, seq));
    world.reply_comes(world.servers[0]);
    world.receives(world.servers[0]);
    world.sends(world.servers[2]);
    CHECK(world.is_for_none(world.servers[2]));
}

TEST_CASE("of several questions in flight on one connection none is for one that is known") {
    World world;
    auto& server = world.servers[0];
    world.waits();
    world.reads(world.clients[0]);
    world.sends(server);
    world.waits();
    world.reads(world.clients[1]);
    SUBCASE("before the first one's reply") {
        world.sends(server);
    }
    SUBCASE("before that is read") {
        world.reply_comes(server);
        world.sends(server);
    }
    CHECK(world.is_for_none(server));
}

TEST_CASE("a request that another thread answers is handed over, and so is said of its process") {
    World world;
    world.reads(world.clients[0]);
    shim_task = 1;
    SUBCASE("by a thread that has read none") {
        world.sends(world.servers[0]);
        CHECK(world.is_for_none(world.servers[0]));
        CHECK(!World::hands_over());
        world.sends(world.clients[0]);
    }
    SUBCASE("more of it is read by another one") {
        world.reads(world.clients[0]);
        world.sends(world.servers[0]);
        CHECK(world.is_for_none(world.servers[0]));
        world.sends(world.clients[0]);
    }
    SUBCASE("the reply to its question is read by another one, for which it is none of its own") {
        shim_task = 0;
        world.sends(world.servers[0]);
        world.reply_comes(world.servers[0]);
        shim_task = 1;
        world.receives(world.servers[0]);
        world.sends(world.servers[1]);
        CHECK(world.is_for_none(world.servers[1]));
    }
    CHECK(World::hands_over());
    // Once is enough.
    shim_printed.clear();
    shim_task = 0;
    world.reads(world.clients[1]);
    shim_task = 1;
    world.sends(world.clients[1]);
    CHECK(!World::hands_over());
}

TEST_CASE("a request that has its reply from another thread is not worked for any more") {
    World world;
    world.reads(world.clients[0]);
    shim_task = 1;
    world.sends(world.clients[0]);
    shim_task = 0;
    world.sends(world.servers[0]);
    CHECK(world.is_for_none(world.servers[0]));
}

TEST_CASE("whatever a loop of callbacks does, a question is for its request, or for none") {
    World world;
    struct Task {
        u32 seq = 0;
        int step = 0;  ///< 0: none; 1: read; 2: asked; 3: its reply is there
    };
    std::array<Task, 3> tasks{};
    std::mt19937 random(53);
    int known = 0;
    for (int round = 0; round < 30'011; ++round) {
        const auto i = random() % tasks.size();
        auto& task = tasks[i];
        if (random() % 5 == 0) world.waits(static_cast<s64>(random() % 2));
        const bool is_read = task.step == 0 || task.step == 2;
        if (task.step == 0) {
            task.seq = world.reads(world.clients[i]);
        } else if (task.step == 2) {
            world.reply_comes(world.servers[i]);
            world.receives(world.servers[i]);
        }
        if (is_read) ++task.step;
        // It goes on at once, or some time.
        if (random() % 11 == 0) continue;
        if (task.step == 1 || random() % 2 == 0) {
            world.sends(world.servers[i]);
            task.step = 2;
            if (world.is_for_none(world.servers[i])) continue;
            REQUIRE(world.is_for(world.servers[i], world.clients[i], task.seq));
            ++known;
        } else {
            world.sends(world.clients[i]);
            const void* fault = nullptr;
            Packet reply(true, 11, world.clients[i].tcp.write_seq - 11);
            reply.skb.sk = world.clients[i].sk();
            REQUIRE(stapgen_pop_answered(world.clients[i].key(), &reply.skb, &fault) != nullptr);
            task.step = 0;
        }
    }
    CHECK(known > 5'003);
}
