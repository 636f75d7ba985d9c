// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/run.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <thread>

#include "base/files.h"
#include "fakes/system/fake_system.h"
#include "launch/module_file.h"

using namespace stapgen;
using namespace stapgen::launch;
namespace fs = std::filesystem;

namespace {

struct Bench {
    base::PrivateDirectory folder = *base::PrivateDirectory::create();
    host::FakeSystem system;
    host::Target target;

    Bench() {
        target.release = "6.1.0-56-amd64";
        target.stap_asked = target.stap = FAKE_STAP;
        target.staprun = FAKE_STAP;
        target.distribution = host::Distribution::debian;
    }

    CompileJob compile_job(const std::string& mode, std::string_view said = "") {
        CompileJob job;
        job.target = target;
        job.options.script = folder.path() / "script.stp";
        job.environment = environment(mode, said);
        job.cache = folder.path() / "cache";
        return job;
    }

    LoadJob load_job(const std::string& mode, std::string_view said = "") {
        LoadJob job;
        job.target = target;
        job.options.module = "/cache/stap_0123456789abcdef.ko";
        job.environment = environment(mode, said);
        job.cache = folder.path() / "cache";
        return job;
    }

    std::string log() { return base::read_file(folder.path() / "cache/last-failure.log").value_or("(there is none)"); }

  private:
    std::map<std::string, std::string> environment(const std::string& mode, std::string_view said) {
        const auto file = folder.path() / "said";
        CHECK(base::replace_file(file, said));
        return {{"FAKE_STAP", mode}, {"FAKE_STAP_STDERR", file.string()}};
    }
};

constexpr std::string_view pass_2_failure =
    "WARNING: Kernel function symbol table missing [man warning::symbols]\n"
    "Pass 1: parsed user script and 484 library scripts using 1virt/1res/1shr/1data kb, in "
    "120usr/70sys/296real ms.\n"
    "semantic error: resolution failed in kprobe builder\n"
    "semantic error: no match\n"
    "Pass 2: analysis failed.  [man error::pass2]\n";

}  // namespace

TEST_CASE("a compilation gives the path that stap printed") {
    Bench bench;
    std::vector<std::string> said;
    auto job = bench.compile_job("compile");
    job.stap_said = [&](std::string_view line) { said.emplace_back(line); };
    const auto compiled = compile(job);
    REQUIRE_MESSAGE(compiled, compiled.error().what);
    CHECK(compiled->module == bench.folder.path() / "cache/work/stap_1.ko");
    CHECK(said.size() == 4);
}

TEST_CASE("root takes no module from a cache that others can write") {
    Bench bench;
    auto job = bench.compile_job("compile");
    REQUIRE(fs::create_directory(job.cache));
    fs::permissions(job.cache, fs::perms::all);
    const auto compiled = compile(job);
    REQUIRE(compiled.has_value() == (::geteuid() != 0));
    if (!compiled)
        CHECK(compiled.error().what == job.cache.string() + " may be written by others than root (mode 0777)");
}

TEST_CASE("a failed compilation names pass, cause and remedy, and keeps stap's own words") {
    Bench bench;
    const auto compiled = compile(bench.compile_job("fail", pass_2_failure));
    REQUIRE_FALSE(compiled);
    const auto& error = compiled.error();
    CHECK(error.kind == base::ErrorKind::cannot_here);
    CHECK(error.what.starts_with("stap failed in pass 2 (looking up probe points): stap has no table"));
    CHECK(error.hint.find("--symbols") != std::string::npos);
    CHECK(error.hint.ends_with("last-failure.log"));
    auto explained = bench.compile_job("fail", pass_2_failure);
    explained.explanation = [](std::string_view message) { return "\nbelow: " + std::string(message); };
    CHECK(compile(explained).error().hint.ends_with("last-failure.log\nbelow: symbol-table"));
    CHECK(bench.log().find("-p4") != std::string::npos);
    CHECK(bench.log().find("Pass 2: analysis failed.") != std::string::npos);
    struct stat status {};
    REQUIRE(::stat((bench.folder.path() / "cache/last-failure.log").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a failure without a known message still says how stap ended") {
    Bench bench;
    const auto failed = compile(bench.compile_job("fail", "never seen before\n"));
    REQUIRE_FALSE(failed);
    CHECK(failed.error().what.find("exit code 1") != std::string::npos);
    const auto died = compile(bench.compile_job("die"));
    REQUIRE_FALSE(died);
    CHECK(died.error().what.find("signal 11") != std::string::npos);
}

TEST_CASE("a mistake in the script is reported with its place, as render shows it") {
    Bench bench;
    const auto folder = bench.folder.path().string();
    const auto compiled = compile(bench.compile_job("fail",
                                                    "parse error: expected literal string or number\n"
                                                    "        saw: operator '}' at " +
                                                        folder +
                                                        "/script.stp:43:19\n"
                                                        "     source: probe begin { x = }\n"
                                                        "Pass 1: parse failed.  [man error::pass1]\n"));
    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().what ==
          "stap failed in pass 1 (parsing the script): the script has an error: expected literal string or number, not "
          "operator '}' at script.stp:43:19");
    CHECK(compiled.error().hint.starts_with("fix it there and run stapgen check"));
}

TEST_CASE("a module that stap could not put anywhere is an error with its reason") {
    Bench bench;
    const auto compiled =
        compile(bench.compile_job("compile-full", "Copy failed (\"a\" to \"b\"): No space left on device\n"));
    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().kind == base::ErrorKind::cannot_here);
    CHECK(compiled.error().what.find("cannot be found: a disk is full") != std::string::npos);
}

TEST_CASE("an interrupted compilation says where it was") {
    Bench bench;
    auto job = bench.compile_job("wait");
    job.timing.tick_period = std::chrono::milliseconds(10);
    std::ostringstream out;
    // fake_stap is still starting up when the signal comes, or not: both must do.
    std::thread interrupter([] {
        ::usleep(200000);
        ::kill(::getpid(), SIGINT);
    });
    const auto compiled = compile(job);
    interrupter.join();
    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().what.find("interrupted in stap's pass 1") != std::string::npos);
}

TEST_CASE("a run that breaks off after some output has both: what there is, and why it ended") {
    Bench bench;
    std::vector<std::string> records;
    auto job = bench.load_job("record-then-fail",
                              "ERROR: Array overflow, check MAXMAPENTRIES near identifier 'seen' at x.stp:3:1\n"
                              "WARNING: Number of errors: 1, skipped probes: 2\n");
    job.handlers.output = [&](Line line, Control&) { records.emplace_back(line.text); };
    int times_loaded = 0;
    job.loaded = [&] { ++times_loaded; };
    const auto end = load(bench.system, job);
    REQUIRE(end);
    CHECK(records == std::vector<std::string>{"record"});
    CHECK(end->losses.skipped_probes == 2);
    REQUIRE(end->failure);
    CHECK(end->failure->what.find("a table of the script is full") != std::string::npos);
    CHECK(end->broke_off.starts_with("a table of the script is full"));
    CHECK(times_loaded == 1);
}

TEST_CASE("why a run broke off is reported once, and what is compiled in is to be built again where it was built") {
    Bench bench;
    auto job = bench.load_job("record-then-fail",
                              "ERROR: probe overhead (123 cycles) exceeded threshold (100 cycles) in last 1000 cycles\n"
                              "ERROR: probe overhead (124 cycles) exceeded threshold (100 cycles) in last 1000 cycles\n"
                              "WARNING: Number of errors: 1, skipped probes: 2\n"
                              "WARNING: Number of errors: 1, skipped probes: 2\n");
    const auto end = load(bench.system, job);
    REQUIRE(end);
    REQUIRE(end->messages.size() == 1);
    CHECK(end->messages.front().id == "errors-skipped");
    REQUIRE(end->failure);
    CHECK(end->failure->hint.find("or raise the limit: a larger --budget, or --stap-option=") != std::string::npos);
    job.is_built = true;
    CHECK(load(bench.system, job)
              ->failure->hint.find("or raise the limit: build again with a larger --budget, or --stap-option=") !=
          std::string::npos);
}

TEST_CASE("a module that the kernel refuses is an error, for nothing was measured") {
    Bench bench;
    const auto end = load(
        bench.system, bench.load_job("fail", "ERROR: Couldn't insert module '/x.ko': Key was rejected by service\n"));
    REQUIRE_FALSE(end);
    CHECK(end.error().kind == base::ErrorKind::cannot_here);
    CHECK(end.error().what.find("signed modules only") != std::string::npos);
}

TEST_CASE("a run that is stopped is no failure, even before staprun listens") {
    Bench bench;
    auto job = bench.load_job("wait");
    job.handlers.output = [](Line, Control& control) { control.request_stop(); };
    const auto end = load(bench.system, job);
    REQUIRE(end);
    CHECK(end->ending.was_stopped);
    CHECK(end->ending.signal == SIGINT);
    CHECK_FALSE(end->failure);
}

namespace {

/// Shows a module as loaded until it has been asked for as often as `times`.
struct ModuleThatStays : host::System {
    explicit ModuleThatStays(int how_often) : times(how_often) {}
    mutable int times;
    mutable pid_t pid = 0;
    std::string others;  ///< that are loaded besides
    std::optional<std::string> read(const std::filesystem::path& path, std::size_t) const override {
        if (path != "/proc/modules") return std::nullopt;
        if (times-- <= 0) return others;
        return others + loaded_name("stap_0123456789abcdef", pid) + " 16384 0 - Live 0x0000000000000000 (OE)\n";
    }
    bool exists(const std::filesystem::path&) const override { return false; }
    std::vector<std::string> list(const std::filesystem::path&) const override { return {}; }
    std::optional<std::uint64_t> free_space(const std::filesystem::path&) const override { return {}; }
    bool has_dwarf(const std::filesystem::path&) const override { return false; }
    std::optional<std::filesystem::path> find_program(const std::string&) const override { return {}; }
    base::Result<std::string> output_of(const std::vector<std::string>&) const override { return ""; }
    std::string running_release() const override { return ""; }
    std::string running_architecture() const override { return ""; }
    bool is_root() const override { return true; }
    std::set<std::string> groups() const override { return {}; }
    std::vector<host::DeviceCounter> device_counters() const override { return {}; }
    std::optional<std::vector<std::uint64_t>> keys_in(std::uint64_t) const override { return {}; }
};

}  // namespace

TEST_CASE("a module that a run left behind is removed, and if even that fails the user is told how") {
    for (const bool removable : {true, false}) {
        Bench bench;
        // Read once before the run, once after it, and once after staprun -d.
        ModuleThatStays system(removable ? 2 : 100);
        // One that was loaded by hand, without a new name, is not it.
        system.others = "stap_0123456789abcdef 16384 0 - Live 0x0000000000000000 (OE)\n";
        auto job = bench.load_job("wait");
        job.handlers.output = [&](Line, Control& control) {
            system.pid = control.pid();
            control.request_stop();
        };
        const auto end = load(system, job);
        REQUIRE(end);
        REQUIRE(end->cleanup.size() == 1);
        CHECK(end->cleanup[0].find(removable ? "stapgen removed it" : "try: sudo staprun -d stap_") !=
              std::string::npos);
    }
}

TEST_CASE("a signed module that a run left behind is removed by its own name, and one that was there before is not") {
    struct PlainName final : ModuleThatStays {
        explicit PlainName(bool there) : ModuleThatStays(100), was_there(there) {}
        bool was_there;
        mutable int reads = 0;
        std::optional<std::string> read(const std::filesystem::path&, std::size_t) const override {
            return ++reads == 1 && !was_there ? "" : "stap_0123456789abcdef 16384 0 - Live 0x0000000000000000 (OE)\n";
        }
    };
    for (const bool was_there : {true, false}) {
        Bench bench;
        const PlainName system(was_there);
        auto job = bench.load_job("wait");
        job.options.is_signed = true;
        job.handlers.output = [&](Line, Control& control) { control.request_stop(); };
        const auto end = load(system, job);
        REQUIRE(end);
        CHECK(end->cleanup.size() == (was_there ? 0 : 1));
        if (!was_there) CHECK(end->cleanup[0].ends_with("try: sudo staprun -d stap_0123456789abcdef"));
    }
}

TEST_CASE("staprun's new name for a module has the length of the old one") {
    CHECK(loaded_name("stap_0123456789abcdef", 4242) == "stap_0123456789a_4242");
    CHECK(loaded_name("x", 4242) == "x");
}

TEST_CASE("a module says what it was made of and which parameters it takes") {
    const auto info = read_module_info(MODULE_WITH_PARAMETERS).value();
    CHECK(info.name == "stap_0123456789abcdef");
    CHECK(info.release == "0.0.0-nowhere");
    CHECK(info.systemtap);
    CHECK(info.parameters == std::set<std::string>{"stapgen_filter", "_stp_bufsize"});
    CHECK_FALSE(info.is_signed);
    CHECK(info.recipe_hash == "0123456789abcdef");
    CHECK(info.header == "4\tx,aggregated\tr\ttime:time");
    CHECK(info.functions == std::vector<std::string>{R"_(kernel.trace("skb:kfree_skb"))_",  //
                                                     R"_(kprobe.function("ip_rcv_core"))_"});
}

TEST_CASE("probe points are told from a module's other texts, and hold nothing of their way there") {
    using namespace std::string_view_literals;
    const auto points = probe_points_in(
        "kprobe.function(\"udp_rcv\")!\0kprobe.function(\"do_select\").return!\0kprobe.function(\"udp_rcv\")?!\0"
        "kernel.function(\"tcp_v4_rcv@net/ipv4/tcp_ipv4.c:1950\").call\0"
        "module(\"nf_tables\").function(\"nft_do_chain@net/x.c:7\") if (__global_x)\0"
        "timer.ms(1000)\0begin(-9223372036854775808)\0read fault at 0x%lx\0kernel. of the text\0\0kprobe.fun"sv);
    CHECK(points == std::set<std::string>{R"_(kernel.function("tcp_v4_rcv").call)_",
                                          R"_(kprobe.function("do_select").return)_", R"_(kprobe.function("udp_rcv"))_",
                                          R"_(module("nf_tables").function("nft_do_chain"))_"});
    CHECK(probe_points_in("kprobe.function(\"" + std::string(2000, 'x') + "\")").empty());
}

TEST_CASE("a module that was signed is known by the mark at its end") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto module = base::read_file(MODULE_WITH_PARAMETERS).value();
    REQUIRE(base::create_file(folder.path() / "a.ko", module + "signature~Module signature appended~\n"));
    CHECK(read_module_info(folder.path() / "a.ko").value().is_signed);
    REQUIRE(base::create_file(folder.path() / "b.ko", module + "~Module signature appended~\n."));
    CHECK_FALSE(read_module_info(folder.path() / "b.ko").value().is_signed);
}

TEST_CASE("a module gets another name of the same length, in both places that have it") {
    const auto folder = base::PrivateDirectory::create().value();
    auto module = base::read_file(MODULE_WITH_PARAMETERS).value();
    const auto before = module;
    rename_module(module, "stap_0123456789abcdef", "stap_too_short");
    CHECK(module == before);
    rename_module(module, "stap_0123456789abcdef", with_tail("stap_0123456789abcdef", "_ghijklm"));
    CHECK(module.size() == before.size());
    REQUIRE(base::create_file(folder.path() / "x.ko", module));
    CHECK(read_module_info(folder.path() / "x.ko").value().name == "stap_01234567_ghijklm");
    std::string text = "no ELF";
    rename_module(text, "no", "an");
    CHECK(text == "no ELF");
}

TEST_CASE("a file that is no module is refused with a remedy") {
    Bench bench;
    const auto file = bench.folder.path() / "x.ko";
    REQUIRE(base::create_file(file, "not ELF"));
    const auto module = make_loadable(file);
    REQUIRE_FALSE(module);
    CHECK(module.error().kind == base::ErrorKind::bad_input);
    CHECK_FALSE(make_loadable("/no/such/file.ko"));
}
