// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/run.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/files.h"

using namespace stapgen;
using namespace stapgen::fleet;

namespace {

/// Hosts that are stand-ins: tests/fakes/ssh. This machine can compile for none of them, and signs what it is given.
struct Fleet {
    base::PrivateDirectory folder = base::PrivateDirectory::create().value();
    std::vector<std::string> signed_ones;
    Job job;

    Fleet(std::vector<std::string> hosts, std::vector<std::string> compile_on) {
        const auto ssh = folder.path() / "ssh";
        std::filesystem::copy_file(FAKE_SSH, ssh);
        job.hosts = std::move(hosts);
        job.compile_on = std::move(compile_on);
        job.ssh.program = ssh;
        job.folder = folder.path() / "out";
        job.recipe = "rx-latency";
        job.duration = std::chrono::seconds(1);
        job.quiet = true;
        job.compile = [](const HostFacts&) { return base::cannot_here("no headers"); };
        job.sign = [this](const std::string& module, const HostFacts&) {
            signed_ones.push_back(module);
            return base::Result<std::string>(module + ", signed");
        };
    }

    std::vector<Row> rows() { return run(job).value().rows; }
};

}  // namespace

TEST_CASE("what a host made for itself is not signed, unless the user has named it") {
    Fleet unnamed({"good-1"}, {});
    const auto refused = unnamed.rows();
    REQUIRE(refused[0].refusal);
    CHECK(refused[0].refusal->kind == Refusal::Kind::cannot);
    CHECK(refused[0].refusal->why.find("--compile-on HOST") != std::string::npos);
    CHECK(unnamed.signed_ones.empty());

    Fleet named({"good-1", "good-2"}, {"good-2"});
    for (const auto& row : named.rows())
        CHECK(row.state == State::done);
    CHECK(named.signed_ones == std::vector<std::string>{"a module"});

    Fleet not_signed({"good-1"}, {});
    not_signed.job.sign = {};
    CHECK(not_signed.rows()[0].state == State::done);
}
