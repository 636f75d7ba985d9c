// SPDX-License-Identifier: GPL-2.0-or-later
// Where threads are between a request's read and its reply: tapsets/c/user_stack.h.
#include <doctest/doctest.h>

#define STAPGEN_SAMPLED_BITS 1
#define STAPGEN_APP_SAMPLES 1
#include "world.h"

// world.h is first: it has what the C is made of.
#include <array>

#include "c/request.h"
#include "c/user_stack.h"
#include "model.h"

namespace {

struct World {
    /// A stack that grows down: each frame has the one above it, and where that goes on.
    std::array<unsigned long, 256> stack{};

    World() {
        clear(stapgen_sampled_threads);
        std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
        for (int i = 0; i < 8; ++i)
            shim_tasks[i] = {101 + i, 100, "worker"};
        shim_task = 0;
        shim_bad_begin = shim_bad_end = nullptr;
        shim_printed.clear();
        stapgen_fast_ns = 1000;
        runs_at(0x401000, {});
    }
    unsigned long at(std::size_t word) const { return reinterpret_cast<unsigned long>(&stack[word]); }
    /// Its place, and those behind the calls that led there, each frame 16 bytes above the one before.
    void runs_at(unsigned long ip, const std::vector<unsigned long>& callers) {
        auto& regs = shim_tasks[shim_task].regs;
        regs = {0, -1, {}, ip, at(0), callers.empty() ? 0 : at(2)};
        for (std::size_t i = 0; i < callers.size(); ++i) {
            stack[2 + 2 * i] = i + 1 == callers.size() ? 0 : at(4 + 2 * i);
            stack[3 + 2 * i] = callers[i];
        }
    }
    stapgen_app_samples reads() {
        stapgen_app_samples samples{};
        stapgen_follow_samples(&samples, shim_now());
        return samples;
    }
    /// What the reply prints, which comes so long after the read: each sample without its time.
    std::vector<std::string> replies(const stapgen_app_samples& samples, s64 after, bool is_own = true) {
        shim_printed.clear();
        stapgen_reply_ends_samples(&samples, is_own, samples.read + after);
        std::vector<std::string> lines;
        std::size_t begin = 0;
        for (auto end = shim_printed.find('\n'); end != std::string::npos; end = shim_printed.find('\n', begin)) {
            auto line = shim_printed.substr(begin, end - begin);
            begin = end + 1;
            REQUIRE(line.starts_with("sample\t"));
            lines.push_back(line.substr(line.find('\t', 7) + 1));
        }
        return lines;
    }
};
long counted(int what) {
    return stapgen_count_now(what);
}

}  // namespace

TEST_CASE_FIXTURE(World, "samples of a slow request are printed, of a fast one none") {
    auto samples = reads();
    stapgen_take_sample(1);
    CHECK(replies(samples, 1000).empty());
    CHECK(counted(STAPGEN_COUNT_samples_slow) == 0);
    samples = reads();
    runs_at(0x401234, {0x401300, 0x401400});
    stapgen_take_sample(1);
    shim_tasks[0].regs.call = 45;
    stapgen_take_sample(0);
    shim_tasks[0].regs.call = -1;
    stapgen_take_sample(0);
    const auto lines = replies(samples, 1001);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "100\t101\tworker\t-1\t0\t401234,401300,401400");
    CHECK(lines[1] == "100\t101\tworker\t45\t0\t401234,401300,401400");
    CHECK(lines[2] == "100\t101\tworker\t-2\t0\t401234,401300,401400");
    CHECK(counted(STAPGEN_COUNT_samples_slow) == 1);
}

TEST_CASE_FIXTURE(World, "a sample is printed once, though two requests were in hand") {
    const auto first = reads();
    stapgen_take_sample(1);
    const auto second = reads();
    stapgen_take_sample(1);
    CHECK(replies(second, 2000).size() == 1);
    stapgen_take_sample(1);
    CHECK(replies(first, 3000).size() == 1);
}

TEST_CASE_FIXTURE(World, "of a long request the last samples are known, and the others counted") {
    const auto samples = reads();
    for (int i = 0; i < 71; ++i) {
        runs_at(0x401000 + static_cast<unsigned long>(i), {});
        stapgen_take_sample(1);
    }
    const auto lines = replies(samples, 100000);
    REQUIRE(lines.size() == STAPGEN_SAMPLES);
    CHECK(lines.front().ends_with("\t401007"));
    CHECK(lines.back().ends_with("\t401046"));
    CHECK(counted(STAPGEN_COUNT_samples_overwritten) == 7);
}

TEST_CASE_FIXTURE(World, "frames that are none end the walk") {
    const auto last = [&](const stapgen_app_samples& samples) { return replies(samples, 2000).at(0); };
    const auto sampled = [&](auto change) {
        const auto samples = reads();
        runs_at(0x401000, {0x401100, 0x401200, 0x401300});
        change();
        stapgen_take_sample(1);
        return last(samples);
    };
    CHECK(sampled([] {}).ends_with("\t0\t401000,401100,401200,401300"));
    // Below the stack's end, not aligned, too far away, going down, not to be read, no address of a program.
    CHECK(sampled([&] { shim_tasks[0].regs.bp = at(0) - 8; }).ends_with("\t1\t401000"));
    CHECK(sampled([&] { shim_tasks[0].regs.bp += 4; }).ends_with("\t1\t401000"));
    CHECK(sampled([&] { shim_tasks[0].regs.bp = at(0) + (9UL << 20); }).ends_with("\t1\t401000"));
    CHECK(sampled([&] { stack[4] = at(4); }).ends_with("\t1\t401000,401100,401200"));
    CHECK(sampled([&] { stack[4] = at(2); }).ends_with("\t1\t401000,401100,401200"));
    CHECK(sampled([&] { stack[5] = 1UL << 60; }).ends_with("\t1\t401000,401100"));
    CHECK(sampled([&] { stack[5] = 0; }).ends_with("\t0\t401000,401100"));
    CHECK(sampled([&] {
              shim_bad_begin = &stack[4];
              shim_bad_end = &stack[5];
          }).ends_with("\t1\t401000,401100"));
}

TEST_CASE_FIXTURE(World, "a call path has 24 frames at most") {
    const std::vector<unsigned long> callers(40, 0x401100);
    const auto samples = reads();
    runs_at(0x401000, callers);
    stapgen_take_sample(1);
    const auto line = replies(samples, 2000).at(0);
    CHECK(std::ranges::count(line, ',') == STAPGEN_USER_FRAMES - 1);
    CHECK(line.find("\t1\t401000,") != std::string::npos);
}

TEST_CASE_FIXTURE(World, "threads that read nothing have no samples, and what cannot be known is counted") {
    stapgen_take_sample(1);
    auto samples = reads();
    CHECK(replies(samples, 2000).empty());
    stapgen_take_sample(1);
    CHECK(replies(samples, 2000, false).empty());
    CHECK(counted(STAPGEN_COUNT_samples_elsewhere) == 1);
    shim_is_of_32_bits = 1;
    stapgen_take_sample(1);
    shim_is_of_32_bits = 0;
    shim_tasks[0].mm = nullptr;
    stapgen_take_sample(1);
    CHECK(counted(STAPGEN_COUNT_samples_unread) == 1);
    // Others take the place of the thread, whose request was under way.
    shim_tasks[0].mm = "of a program";
    samples = reads();
    shim_task = 1;
    for (shim_tasks[1].pid = 201; shim_tasks[1].pid < 241; ++shim_tasks[1].pid)
        (void)reads();
    CHECK(counted(STAPGEN_COUNT_samples_evicted) >= 40 - 8);
    shim_task = 0;
    (void)reads();
    stapgen_take_sample(1);
    CHECK(replies(samples, 2000).empty());
}
