// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/code_names.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "decode/record.h"
#include "table/texts.h"

using namespace stapgen;
using stapgen::recording::CodeName, stapgen::recording::RunFacts;
namespace rows = stapgen::rows;
using Texts = stapgen::table::Texts;

namespace {

CodeName code_name(std::int64_t pid, std::uint64_t address, std::string symbol, bool after_call,
                   std::optional<std::uint64_t> place = 0x1000) {
    CodeName made;
    made.pid = pid;
    made.address = address;
    made.symbol = std::move(symbol);
    made.file = place ? "app" : "jit";
    made.place = place;
    made.after_call = after_call;
    return made;
}
rows::CodeSample code_sample(std::int64_t pid, std::int64_t call, std::string addresses) {
    return {.comm = "web", .pid = pid, .call = call, .addresses = std::move(addresses), .n = 1};
}

stapgen::kinds::Measured named_code(const std::vector<rows::CodeSample>& samples, const std::vector<CodeName>& names) {
    RunFacts facts;
    facts.setup.kernel.architecture = "aarch64";
    facts.outcome.code = names;
    stapgen::kinds::Measured measured;
    auto& table = measured.of<rows::CodeSample>();
    table.insert(table.end(), samples.begin(), samples.end());
    stapgen::session::put_code(facts, measured);
    return measured;
}

}  // namespace

TEST_CASE("a sample has the names of its process, and a call's comes first") {
    const auto measured = named_code(
        {code_sample(7, -1, "10,20"), code_sample(8, -1, "10,20"), code_sample(7, 63, "10"), code_sample(7, -2, "10"),
         code_sample(7, 9999, "10")},
        {code_name(7, 0x10, "encode", false), code_name(7, 0x20, "answer", true), code_name(8, 0x10, "parse", false)});
    const auto& rows = measured.of<rows::CodeSample>();
    REQUIRE(rows.size() == 5);
    CHECK(rows[0].path == Texts{"encode", "answer"});
    CHECK(rows[0].files == Texts{"app", "app"});
    CHECK(rows[1].path == Texts{"parse"});
    CHECK(rows[2].path == Texts{"read()", "encode"});
    CHECK(rows[2].files == Texts{"kernel", "app"});
    CHECK(rows[3].path == Texts{"page faults and interrupts", "encode"});
    CHECK(rows[4].path == Texts{"system call 9999", "encode"});
    CHECK(rows[0].pid == 0);
}

TEST_CASE("who called is believed as far as a call is there") {
    const auto path_of = [](bool after_call) {
        return named_code({code_sample(7, -1, "10,20,30")},
                          {code_name(7, 0x10, "encode", false), code_name(7, 0x20, "answer", after_call),
                           code_name(7, 0x30, "main", true)})
            .of<rows::CodeSample>()
            .at(0)
            .path;
    };
    CHECK(path_of(true) == Texts{"encode", "answer", "main"});
    CHECK(path_of(false) == Texts{"encode"});
}

TEST_CASE("code without a name is one place of its file, and what is known of no address is said") {
    const auto measured = named_code(
        {code_sample(7, -1, "10"), code_sample(7, -1, "11"), code_sample(7, -1, "12"), code_sample(7, -1, "13")},
        {code_name(7, 0x10, "", false, 0x1010), code_name(7, 0x11, "", false, 0x1011),
         code_name(7, 0x12, "", false, std::nullopt)});
    const auto& rows = measured.of<rows::CodeSample>();
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].n == 2);
    CHECK(rows[0].files == Texts{"app"});
    CHECK(rows[1].files == Texts{"jit"});
    CHECK(rows[2].path == Texts{"code without a name"});
    CHECK(rows[2].files == Texts{""});
}

TEST_CASE("a lock has the name of its variable where the recording has one, and who waits for it is one row") {
    recording::RunFacts facts;
    auto heap = code_name(2213, 0x55d0c1000000, "", false, std::nullopt);
    heap.file = "heap";
    facts.outcome.code = {code_name(2213, 0x55d0c0a0b040, "cache_lock", false), heap};
    kinds::Measured measured;
    const auto waits = [](std::int64_t tid, std::string by) {
        return rows::Who{.group = {{"tid", tid}, {"waited", "lock"}, {"by", std::move(by)}}, .n = 7, .sum_ns = 11};
    };
    measured.of<rows::Who>() = {waits(2213, "0x55d0c0a0b040"), waits(2213, "0x55d0c1000000"), waits(2213, "0x1"),
                                waits(2214, "0x55d0c0a0b040"), waits(2213, "127.0.0.1:5432")};
    session::put_code(facts, measured);
    std::vector<std::string> names;
    for (const auto& row : measured.of<rows::Who>())
        names.push_back(std::get<std::string>(table::find_field(row.group, "by")->value));
    std::ranges::sort(names);
    CHECK(names == std::vector<std::string>{"0x1", "0x55d0c0a0b040", "127.0.0.1:5432", "cache_lock in app", "heap"});
    CHECK(session::lock_address("0x2a") == 42);
    CHECK_FALSE(session::lock_address("0x"));
    CHECK_FALSE(session::lock_address("pipe"));
}
