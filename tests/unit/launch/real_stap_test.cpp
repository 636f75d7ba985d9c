// SPDX-License-Identifier: GPL-2.0-or-later
// With the stap of this machine, where there is one. A kernel is not needed for what is checked here: a build
// tree of four nearly empty files makes stap work up to pass 3.

#include <doctest/doctest.h>

#include "base/files.h"
#include "doctor/checks.h"
#include "host/workarounds.h"
#include "launch/module_file.h"
#include "launch/run.h"

using namespace stapgen;
using namespace stapgen::launch;
namespace fs = std::filesystem;

namespace {

constexpr auto release = "6.1.0-0-stapgen-test";

struct RealStap {
    base::PrivateDirectory folder = *base::PrivateDirectory::create();
    std::unique_ptr<host::System> machine = this_machine();

    RealStap() {
        fs::create_directories(tree() / "include/config");
        for (const auto* name : {".config", "Module.symvers", "Makefile"}) {
            REQUIRE(base::create_file(tree() / name, ""));
        }
        REQUIRE(base::create_file(tree() / "include/config/kernel.release", std::string(release) + "\n"));
    }
    fs::path tree() { return folder.path() / "tree"; }

    bool has_stap() {
        if (machine->find_program("stap")) return true;
        MESSAGE("skipped: no stap on this machine");
        return false;
    }

    CompileJob job(std::string_view script) {
        CompileJob result;
        result.target = host::inspect(*machine, {.stap = "stap", .release = tree().string()});
        result.options.script = folder.path() / "script.stp";
        CHECK(base::replace_file(result.options.script, script));
        result.cache = folder.path() / "cache";
        return result;
    }
    std::string failure(const CompileJob& job) {
        const auto compiled = compile(job);
        REQUIRE_FALSE(compiled);
        return compiled.error().what;
    }
};

}  // namespace

TEST_CASE("real stap: its version is understood and its runtime found") {
    RealStap bench;
    if (!bench.has_stap()) return;
    const auto target = bench.job("").target;
    CHECK(target.stap_version);
    CHECK(target.release == release);
    CHECK_FALSE(target.runtime.empty());
    CHECK(doctor::headers(*bench.machine, {target}).state == doctor::State::ok);
    CHECK(doctor::systemtap(*bench.machine, {target}).state != doctor::State::missing);
}

TEST_CASE("real stap: an error in the script is an error of pass 1") {
    RealStap bench;
    if (!bench.has_stap()) return;
    const auto what = bench.failure(bench.job("probe begin { printl(\"x\" }\n"));
    CHECK_MESSAGE(what.starts_with("stap failed in pass 1 (parsing the script): the script has an error: expected"),
                  what);
}

TEST_CASE("real stap: a tracepoint that is not found is reported as that") {
    RealStap bench;
    if (!bench.has_stap()) return;
    const auto what = bench.failure(bench.job("probe kernel.trace(\"kfree_skb\") { println(1) }\n"));
    CHECK_MESSAGE(what.find("pass 2 (looking up probe points): stap does not find a tracepoint") != std::string::npos,
                  what);
}

TEST_CASE("real stap: missing debuginfo is reported as that") {
    RealStap bench;
    if (!bench.has_stap()) return;
    const auto what = bench.failure(bench.job("probe kernel.function(\"tcp_v4_rcv\") { println(1) }\n"));
    CHECK_MESSAGE(what.find("no debuginfo of kernel") != std::string::npos, what);
}

TEST_CASE("real stap: without headers it says what is missing") {
    RealStap bench;
    if (!bench.has_stap()) return;
    auto job = bench.job("probe begin { println(1) }\n");
    job.target.release_option = "9.9-none";
    const auto what = bench.failure(job);
    CHECK_MESSAGE(what.find("/lib/modules/9.9-none/build/.config cannot be read") != std::string::npos, what);
}

TEST_CASE("real stap: a kprobe is found once the symbol table is replaced, and not before") {
    RealStap bench;
    if (!bench.has_stap()) return;
    auto job = bench.job("probe kprobe.function(\"tcp_v4_rcv\") { println(1) }\n");
    auto what = bench.failure(job);
    CHECK_MESSAGE(what.find("stap has no table of this kernel's functions") != std::string::npos, what);

    const auto symbols = bench.folder.path() / "kallsyms";
    REQUIRE(base::create_file(symbols, "0000000000000000 T tcp_v4_rcv\n"));
    const auto workaround = host::provide_symbol_table(*bench.machine, job.target, symbols, job.cache);
    REQUIRE(workaround);
    REQUIRE(*workaround);
    job.mounts = (*workaround)->mounts;
    what = bench.failure(job);
    if (what.find("namespace") != std::string::npos) {
        MESSAGE("skipped: this machine allows no mount namespace");
        return;
    }
    // Pass 2 is passed; the empty tree cannot compile anything.
    CHECK_MESSAGE(what.find("stap failed in pass 4") != std::string::npos, what);
    CHECK_FALSE(fs::exists(fs::path("/boot/System.map-") += release));
}

TEST_CASE("real stap: where kernel headers are installed a module is made, with the workarounds it needs") {
    RealStap bench;
    if (!bench.has_stap()) return;
    std::error_code ignored;
    int made = 0;
    for (const auto& entry : fs::directory_iterator("/lib/modules", ignored)) {
        auto job = bench.job("probe begin { println(1) exit() }\n");
        job.target = host::inspect(*bench.machine, {.stap = "stap", .release = entry.path().filename().string()});
        if (doctor::headers(*bench.machine, {job.target}).state != doctor::State::ok) continue;
        const auto workarounds = host::load_workarounds(WORKAROUNDS_TOML);
        REQUIRE(workarounds);
        const auto needed = host::needed_workarounds(*workarounds, *bench.machine, job.target);
        const auto applied = host::apply_workarounds(needed, {}, job.target, job.cache);
        REQUIRE_MESSAGE(applied, applied.error().what);
        job.options.apply(*applied);
        const auto compiled = compile(job);
        REQUIRE_MESSAGE(compiled, compiled.error().what);
        const auto module = make_loadable(compiled->module);
        REQUIRE_MESSAGE(module, module.error().what);
        CHECK(module->info.release == job.target.release);
        CHECK(module->info.systemtap);
        CHECK_FALSE(module->copy);

        const auto renamed = bench.folder.path() / "my-measurement.ko";
        fs::copy_file(compiled->module, renamed, fs::copy_options::overwrite_existing);
        const auto copied = make_loadable(renamed);
        REQUIRE_MESSAGE(copied, copied.error().what);
        CHECK(copied->copy);
        CHECK(copied->path.filename() == module->path.filename());
        ++made;
    }
    if (made == 0) MESSAGE("skipped: no kernel headers on this machine");
}
