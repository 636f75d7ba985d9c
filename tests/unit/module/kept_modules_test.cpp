// SPDX-License-Identifier: GPL-2.0-or-later
#include "module/kept_modules.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <iterator>

#include "base/files.h"
#include "fakes/system/fake_system.h"

using namespace stapgen;

namespace fs = std::filesystem;

namespace {

/// A job whose files are in a folder of the test's own.
struct Machine {
    base::PrivateDirectory folder = *base::PrivateDirectory::create();
    host::FakeSystem system;
    launch::CompileJob job;

    Machine() {
        job.cache = folder.path() / "cache";
        job.target.stap = folder.path() / "stap";
        job.target.build = folder.path() / "build";
        job.options.script = folder.path() / "rx-latency.stp";
        job.options.tapsets = {"/tapsets"};
        system.files = {{"/tapsets/a.stp", "probe stapgen.a = begin {}"}};
        fs::create_directories(job.target.build);
        fs::create_directories(job.cache);
        CHECK(base::create_file(job.target.stap, "stap"));
        CHECK(base::create_file(made(), "a module"));
    }
    [[nodiscard]] fs::path made() const { return folder.path() / "stap_7_1.ko"; }
    [[nodiscard]] module::KeptModules of(std::string_view script = "probe begin {}") const {
        return {system, job, script};
    }
};

}  // namespace

TEST_CASE("a module is found again under its own name, by the same job only") {
    Machine machine;
    CHECK_FALSE(machine.of().find());
    machine.of().keep(machine.made());
    const auto found = machine.of().find();
    REQUIRE(found);
    CHECK(found->filename() == "stap_7_1.ko");
    CHECK(base::read_file(*found) == std::string("a module"));
    CHECK_FALSE(machine.of("probe end {}").find());

    SUBCASE("the folder of the script is a new one each time") {
        machine.job.options.script = "/elsewhere/rx-latency.stp";
        CHECK(machine.of().find());
    }
    SUBCASE("a macro") {
        machine.job.options.macros = {"MAXACTION=7"};
    }
    SUBCASE("a flag of a workaround") {
        machine.job.options.kbuild["CFLAGS_MODULE"] = "-Wno-error";
    }
    SUBCASE("another kernel") {
        machine.job.target.release_option = "6.1";
    }
    SUBCASE("another running kernel") {
        machine.job.target.release = "6.1";
    }
    SUBCASE("another table of symbols") {
        machine.job.mounts = {{"/cache/boot-1", "/boot"}};
    }
    SUBCASE("a tapset's text") {
        machine.system.files["/tapsets/a.stp"] += "\n";
    }
    SUBCASE("one more tapset") {
        machine.system.files["/tapsets/b.stp"] = "";
    }
    SUBCASE("another stap") {
        CHECK(base::replace_file(machine.job.target.stap, "a newer one"));
    }
    SUBCASE("another configuration") {
        CHECK(base::create_file(machine.job.target.build / ".config", ""));
    }
    SUBCASE("another compiler") {
        machine.system.programs["gcc"] = "/opt/gcc";
    }
    if (machine.job.options.script.parent_path() != "/elsewhere") CHECK_FALSE(machine.of().find());
}

TEST_CASE("what was built for a kernel that is named is found where that kernel runs") {
    Machine machine;
    machine.job.target.release = machine.job.target.release_option = "6.12";
    machine.of().keep(machine.made());
    machine.job.target.release_option.clear();
    CHECK(machine.of().find());
}

TEST_CASE("a module that depends on what is not looked at is not kept") {
    Machine machine;
    SUBCASE("an option of the user's") {
        machine.job.options.stap_options = {"-DSTP_NO_OVERLOAD"};
    }
    SUBCASE("symbols of all modules") {
        machine.job.options.all_modules = true;
    }
    SUBCASE("symbols of one module") {
        machine.job.options.modules = {"nf_tables"};
    }
    machine.of().keep(machine.made());
    CHECK_FALSE(machine.of().find());
    CHECK_FALSE(fs::exists(machine.job.cache / "modules"));
}

TEST_CASE("the 64 modules that were used last are kept, whichever were made first") {
    Machine machine;
    const auto is_kept = [&](int i) { return machine.of(std::to_string(i)).find().has_value(); };
    const auto keep = [&](int i) { machine.of(std::to_string(i)).keep(machine.made()); };
    for (int i = 0; i < 64; ++i)
        keep(i);
    for (int i = 0; i < 64; ++i) {
        const auto module = machine.of(std::to_string(i)).find();
        REQUIRE(module);
        fs::last_write_time(module->parent_path(), fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
    }
    CHECK(is_kept(0));  // which is no use of it: a dry run only looks
    machine.of("1").use();
    keep(64);
    keep(65);
    const auto kept = std::distance(fs::directory_iterator(machine.job.cache / "modules"), fs::directory_iterator());
    CHECK(kept == 64);
    for (const int i : {0, 2})
        CHECK_FALSE(is_kept(i));
    for (const int i : {1, 3, 63, 64, 65})
        CHECK(is_kept(i));
}

TEST_CASE("a module that others could have put there is not taken by root") {
    Machine machine;
    machine.of().keep(machine.made());
    const auto found = machine.of().find();
    REQUIRE(found);
    CHECK(::chmod(found->c_str(), 0666) == 0);
    CHECK(machine.of().find().has_value() == (::geteuid() != 0));
}
