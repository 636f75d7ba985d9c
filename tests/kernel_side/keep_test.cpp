// SPDX-License-Identifier: GPL-2.0-or-later
// Records of the seconds that have passed: tapsets/c/keep.h.
#include <doctest/doctest.h>

#include <deque>
#include <random>

#define STAPGEN_FIELDS 24
#define STAPGEN_WAITS 1
// A ring of each of eight CPUs has 125 words, which no record divides.
#define STAPGEN_KEEP 8003
#include "world.h"

// world.h is first: it has what the C is made of.
#include "c/keep.h"

namespace {

constexpr u32 ring_words = 125;
const u32 ip4[2] = {0x0100007f, 0x0200007f};
const u64 ip6[4] = {0x11, 0x22, 0x33, 0x44}, comm[2] = {'a', 0}, device[2] = {'l' | 'o' << 8, 0};

void begin() {
    std::memset(stapgen_kept_rings, 0, sizeof(stapgen_kept_rings));
    std::memset(stapgen_kept_words, 0xa5, sizeof(stapgen_kept_words));
    stapgen_kept_from = stapgen_kept_until = 0;
    stapgen_begin_keeping();
    shim_printed.clear();
    shim_cpu = 0;
}

u32 words_of(int numbers) {
    return static_cast<u32>(STAPGEN_KEPT_WORDS + numbers);
}

/// One of so many stages and parts.
void keep(s64 now, int stages, int parts, bool is_ip4 = true) {
    const void* fault = nullptr;
    stapgen_ends ends{};
    ends.is_ip4 = is_ip4;
    ends.local = is_ip4 ? static_cast<const void*>(&ip4[0]) : &ip6[0];
    ends.remote = is_ip4 ? static_cast<const void*>(&ip4[1]) : &ip6[2];
    ends.local_port = 7001;
    ends.remote_port = 7003;
    s64 ns[8];
    stapgen_waits waits{};
    for (int i = 0; i < stages; ++i)
        ns[i] = now + i;
    for (int i = 0; i < parts; ++i)
        stapgen_add_wait(&waits, i + 2, now + 100 + i);
    stapgen_keep_record(STAPGEN_KEPT_SEGMENT, now, s64{11} << 32 | 13, comm, &ends, device, 17, (1U << stages) - 1, ns,
                        parts > 0 ? &waits : nullptr, &fault);
    CHECK(fault == nullptr);
}

/// The times of all that are asked for, and what is in them.
std::vector<s64> take() {
    std::vector<s64> times;
    for (;;) {
        const auto kind = stapgen_take_kept();
        if (kind == STAPGEN_KEPT_NONE) return times;
        if (kind == STAPGEN_KEPT_TOO_OLD) continue;
        const auto& kept = stapgen_kept_taken.of;
        s64 stages[8];
        stapgen_waits waits{};
        stapgen_read_kept(stages, 8, &waits);
        for (int i = 0; i < 8; ++i)
            CHECK(stages[i] == (kept.has >> i & 1 ? kept.now + i : STAPGEN_NO_STAGE));
        for (u32 i = 0, said = waits.said >> 2; said; said >>= 1, ++i)
            CHECK(waits.ns[i + 2] == kept.now + 100 + i);
        times.push_back(kept.now);
    }
}

}  // namespace

TEST_CASE("a kept record is given once, when it is asked for, as the line that it would have been") {
    begin();
    shim_cpu = 5;
    keep(101, 2, 1);
    shim_cpu = 0;
    CHECK(stapgen_take_kept() == STAPGEN_KEPT_NONE);
    stapgen_ask_for_kept(50, 200);
    REQUIRE(stapgen_take_kept() == STAPGEN_KEPT_SEGMENT);
    const void* fault = nullptr;
    stapgen_line line;
    stapgen_begin_kept_line(&line, "kept\trx", "", &fault);
    CHECK(std::string(line.text, line.length) ==
          "kept\trx\t101\t5\t11\t13\ta\t0.ffff7f000001:7001\t0.ffff7f000002:7003\tlo");
    CHECK(stapgen_take_kept() == STAPGEN_KEPT_NONE);
    CHECK_FALSE(stapgen_ends_kept(200));
    CHECK(stapgen_ends_kept(201));
    CHECK(stapgen_kept_printed == 1);
    CHECK(stapgen_kept_since() == 50);
}

TEST_CASE("an IPv6 address is kept whole") {
    begin();
    keep(101, 1, 0, false);
    stapgen_ask_for_kept(50, 200);
    REQUIRE(stapgen_take_kept() == STAPGEN_KEPT_SEGMENT);
    const auto& kept = stapgen_kept_taken.of;
    CHECK(std::memcmp(kept.local, &ip6[0], 16) == 0);
    CHECK(std::memcmp(kept.remote, &ip6[2], 16) == 0);
}

TEST_CASE("of all times only those that are asked for are given, and older ones go") {
    begin();
    for (const s64 now : {11, 23, 37, 41})
        keep(now, 1, 0);
    stapgen_ask_for_kept(23, 37);
    CHECK(take() == std::vector<s64>{23, 37});
    CHECK(stapgen_ends_kept(38));
    stapgen_ask_for_kept(1, 100);
    CHECK(take() == std::vector<s64>{41});
}

TEST_CASE("a full ring lets the oldest go, and says since when all are there") {
    begin();
    s64 now = 1000;
    for (int i = 0; i < 101; ++i)
        keep(++now, 3, 2);
    stapgen_ask_for_kept(1001, 5000);
    const auto since = stapgen_kept_since();
    const auto times = take();
    REQUIRE(!times.empty());
    CHECK(times.size() == ring_words / words_of(5));
    CHECK(times.back() == now);
    CHECK(times.front() == since + 1);
    CHECK(stapgen_kept_lost() == 0);
}

TEST_CASE("what is asked for is not overwritten: what finds no room then is counted") {
    begin();
    s64 now = 1000;
    for (int i = 0; i < 101; ++i)
        keep(++now, 3, 2);
    stapgen_ask_for_kept(1001, 5000);
    for (int i = 0; i < 7; ++i)
        keep(++now, 3, 2);
    const auto times = take();
    CHECK(times.back() <= now - 7 + 1);
    CHECK(times.size() == ring_words / words_of(5));
    CHECK(stapgen_kept_lost() == 7);
    keep(++now, 3, 2);
    CHECK(take() == std::vector<s64>{now});
}

TEST_CASE("where nothing was begun nothing is kept") {
    begin();
    stapgen_rings = 0;
    keep(7, 1, 1);
    stapgen_ask_for_kept(1, 100);
    CHECK(take().empty());
}

TEST_CASE("records of random sizes on random CPUs: each ring is as a list whose oldest ones go") {
    std::mt19937 random(60);
    for (int run = 0; run < 101; ++run) {
        begin();
        struct Kept {
            s64 now;
            u32 words;
        };
        std::deque<Kept> rings[SHIM_CPUS];
        s64 now = 0;
        for (int i = 0; i < 503; ++i) {
            shim_cpu = static_cast<int>(random() % SHIM_CPUS);
            const int stages = static_cast<int>(random() % 9), parts = static_cast<int>(random() % 19);
            keep(++now, stages, parts);
            auto& ring = rings[shim_cpu];
            ring.push_back({now, words_of(stages + parts)});
            // What is there is at the end of the list. How many these are depends on what is left at the ring's end.
            const auto& state = stapgen_kept_rings[shim_cpu];
            REQUIRE(state.used <= ring_words);
            REQUIRE(state.first < ring_words);
            if (random() % 97 != 0) continue;
            stapgen_ask_for_kept(0, now);
            std::set<s64> given;
            for (const auto time : take())
                given.insert(time);
            for (auto& of : rings) {
                u32 words = 0;
                bool is_gone = false;
                for (auto at = of.rbegin(); at != of.rend(); ++at) {
                    const bool has = given.erase(at->now) > 0;
                    CHECK((!has || !is_gone));
                    is_gone = is_gone || !has;
                    if (has) words += at->words;
                    // At most the longest record is left at the end, and beside the newest.
                    if (is_gone && at == of.rbegin()) FAIL("the newest one is gone");
                }
                CHECK(words <= ring_words);
                if (is_gone) CHECK(words + 2 * words_of(8 + 18) > ring_words);
                of.clear();
            }
            CHECK(given.empty());
            CHECK(stapgen_ends_kept(now + 1));
        }
    }
}
