// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analyze/kinds.h"
#include "analyzer_run.h"

using namespace analyzer_run;
namespace rows = stapgen::rows;

namespace {

const std::string samples_header =
    std::string(rx_header) +
    "fields\tsample\ttime:time\tpid:int\ttid:int\tcomm:text\tcall:int\ttruncated:int\tframes:stack\n" +
    std::string(ready);

rows::CodeSample code_sample(std::int64_t n, const std::string& comm, stapgen::table::Texts path,
                             std::int64_t call = -1) {
    rows::CodeSample row{.comm = comm, .call = call, .n = n};
    row.files.assign(path.size(), "app");
    if (call != -1) row.files[0] = "kernel";
    row.path = std::move(path);
    return row;
}

rows::Results results_of_samples(const std::vector<rows::CodeSample>& samples, std::vector<Cause> other = {}) {
    Measured measured;
    auto& table = measured.of<rows::CodeSample>();
    table.is_there = true;
    table.insert(table.end(), samples.begin(), samples.end());
    measured.accounting.other = std::move(other);
    rows::Results results;
    put_kinds(measured, {}, results);
    return results;
}

}  // namespace

TEST_CASE("samples of one place are added up, and nothing else takes them") {
    const analyzer_run::Run run(samples_header +
                                "sample\t1000\t100\t101\tweb\t-1\t0\t401000,401100\n"
                                "sample\t2000\t100\t102\tweb\t-1\t1\t401000,401100\n"
                                "sample\t3000\t100\t102\tweb\t0\t0\t401000,401100\n"
                                "sample\t4000\t200\t201\tweb\t-1\t0\t401000,401100\n");
    const auto measured = run.analyzer->measured();
    CHECK_FALSE(measured.counts());
    auto samples = measured.of<rows::CodeSample>();
    REQUIRE(samples.size() == 3);
    std::ranges::sort(samples, {}, [](const auto& row) { return std::pair(row.pid, row.call); });
    CHECK(samples[0].n == 2);
    CHECK(samples[0].addresses == "401000,401100");
    CHECK(samples[1].call == 0);
    CHECK(samples[2].pid == 200);
}

TEST_CASE("functions have their shares, with the error, and with what they called where that is known") {
    const auto results = results_of_samples(
        {code_sample(82, "web", {"encode", "answer", "main"}), code_sample(36, "web", {"copy", "answer", "main"}),
         code_sample(9, "web", {"read()", "read", "answer", "main"}, 0), code_sample(73, "old", {"parse"})},
        {{"slow-requests", 53}});
    const auto& functions = results.of<rows::Function>();
    REQUIRE(functions.size() == 6);
    CHECK(functions[0].function == "encode");
    CHECK(functions[0].n == 82);
    CHECK(functions[0].share == doctest::Approx(0.41));
    CHECK(functions[0].error == doctest::Approx(0.0682).epsilon(0.01));
    CHECK(functions[0].called_share == doctest::Approx(0.41));
    CHECK(functions[1].function == "parse");
    CHECK_FALSE(functions[1].called_share);
    CHECK(functions[3].function == "read()");
    CHECK(functions[3].file == "kernel");
    // In none of its own, and in all that it called.
    CHECK(functions[4].n == 0);
    CHECK(functions[4].called_share == doctest::Approx(127.0 / 200));
    REQUIRE(results.sentences.functions.size() == 2);
    CHECK(results.sentences.functions[0] ==
          "CPU of the 53 slow requests, 200 samples: encode 41 % (+-7), parse 36 % (+-7), copy 18 % (+-6)");
    CHECK(results.sentences.functions[1].find("no frame pointers in old;") != std::string::npos);
}

TEST_CASE("a few callers are none: a register of a program without frame pointers may look like one") {
    const auto results =
        results_of_samples({code_sample(79, "web", {"encode", "answer"}), code_sample(21, "web", {"encode"})});
    REQUIRE(results.of<rows::Function>().size() == 1);
    CHECK_FALSE(results.of<rows::Function>()[0].called_share);
    // A system call is made somewhere, and that is no caller.
    CHECK_FALSE(
        results_of_samples({code_sample(100, "web", {"read()", "read"}, 0)}).of<rows::Function>()[0].called_share);
}

TEST_CASE("of too few samples nothing is said but that") {
    const auto results = results_of_samples({code_sample(29, "web", {"encode"})}, {{"slow-requests", 1}});
    CHECK(results.of<rows::Function>().empty());
    REQUIRE(results.sentences.functions.size() == 1);
    CHECK(results.sentences.functions[0].starts_with("CPU of the 1 slow request, 29 samples: too few to say"));
    CHECK(results_of_samples({}).sentences.functions.size() == 1);
    CHECK(results_of_samples({code_sample(30, "web", {"encode"})}).of<rows::Function>().size() == 1);
    rows::Results none;
    put_kinds(Measured(), {}, none);
    CHECK(none.sentences.functions.empty());
}

TEST_CASE("what is missing is said: samples, requests, names") {
    auto compiled = code_sample(100, "node", {"code without a name"});
    compiled.files[0] = "jit";
    const auto said =
        results_of_samples({compiled}, {{"samples-overwritten", 7}, {"slow-elsewhere", 1}}).sentences.functions;
    REQUIRE(said.size() == 5);
    CHECK(said[2].find("--perf-basic-prof") != std::string::npos);
    CHECK(said[3].starts_with("7 samples are missing"));
    CHECK(said[4].starts_with("of 1 slow request it is not known"));
}
