// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/doctor.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "launch/messages.h"
#include "machine.h"

using namespace stapgen;
using namespace stapgen::doctor_test;
using doctor::State;

namespace {

doctor::Verdict verdict(const host::FakeSystem& system, const doctor::Question& asked) {
    return doctor::conclude(doctor::examine(system, asked), asked);
}

}  // namespace

TEST_CASE("Debian 13 with what belongs to it runs the recipe, and no check is missing") {
    const auto system = debian_13();
    const auto asked = question(system);
    for (const auto& check : doctor::examine(system, asked)) {
        CAPTURE(check.id);
        CHECK(check.state != State::missing);
        CHECK_FALSE(check.found.empty());
    }
    const auto found = verdict(system, asked);
    CHECK(found.able == std::vector<std::string>{"rx-latency"});
    CHECK(found.unable.empty());
    CHECK(found.what == "rx-latency will run here");
    CHECK(found.first == "stapgen rx-latency");
    // What was given is part of the command that is to be pasted.
    auto given = asked;
    given.symbols = "kallsyms of web1.gz";
    CHECK(verdict(system, given).first == "stapgen rx-latency --symbols 'kallsyms of web1.gz'");
    given.to_load = false;
    CHECK(verdict(system, given).first ==
          "stapgen build rx-latency -r 6.12.117+deb13-amd64 -o FILE.ko --symbols 'kallsyms of web1.gz'");
}

TEST_CASE("every id is there once") {
    const auto system = debian_13();
    std::set<std::string> ids;
    for (const auto& check : doctor::examine(system, question(system)))
        CHECK(ids.insert(check.id).second);
    CHECK(ids.size() == 18);
}

TEST_CASE("what is missing is named with what to do first") {
    auto system = debian_13();
    system.files.erase("/lib/modules/6.12.117+deb13-amd64/build/.config");
    system.root = false;
    auto found = verdict(system, question(system));
    CHECK(found.able.empty());
    CHECK(found.what == "rx-latency will not run here");
    CHECK(found.first.starts_with("start with privileges: run it with sudo, "));
    // Where a module could be loaded, one can be made elsewhere.
    system.root = true;
    found = verdict(system, question(system));
    CHECK(found.first.starts_with("start with headers: apt-get install linux-headers-6.12.117+deb13-amd64; "));
    CHECK(found.first.ends_with("; a module built elsewhere (stapgen build) would run here: stapgen exec"));
}

TEST_CASE("recipes are told apart: those that probe no function need no symbol table, counters nothing at all") {
    auto system = debian_13();
    system.files["/boot/System.map-6.1.0-56-amd64"] = "ffffffffffffffff B stub\n";
    auto asked = question(system, {.release = "6.1.0-56-amd64"});
    asked.subjects = {{.name = "dropwatch", .probes_functions = false},
                      {.name = "rx-latency"},
                      {.name = "softnet", .reads_counters = true, .probes_functions = false}};
    const auto checks = doctor::examine(system, asked);
    CHECK(check(checks, "headers").state == State::missing);
    CHECK(check(checks, "symbol-table").state == State::missing);
    CHECK(check(checks, "privileges").id.empty());
    CHECK(doctor::conclude(checks, asked).able == std::vector<std::string>{"softnet"});

    system.files["/lib/modules/6.1.0-56-amd64/build/.config"] = "";
    system.files["/lib/modules/6.1.0-56-amd64/build/Makefile"] = "";
    system.programs["gcc"] = "/usr/bin/gcc";
    asked.target = host::inspect(system, {.release = "6.1.0-56-amd64"});
    const auto found = verdict(system, asked);
    CHECK(found.able == std::vector<std::string>{"dropwatch", "softnet"});
    CHECK(found.what == "rx-latency will not compile here for 6.1.0-56-amd64; dropwatch, softnet will");
    asked.subjects.erase(asked.subjects.begin() + 1);
    CHECK(check(doctor::examine(system, asked), "symbol-table").state == State::ok);
    CHECK(verdict(system, asked).what == "all recipes will compile here for 6.1.0-56-amd64");
    CHECK(verdict(system, asked).first == "stapgen build RECIPE -r 6.1.0-56-amd64 -o FILE.ko");
}

TEST_CASE("a module that is there is run by exec") {
    const auto system = debian_13();
    auto asked = question(system);
    asked.to_compile = false;
    asked.subjects = {{.name = "rx.ko"}};
    asked.module = {"rx.ko", "stap_1", "rx-latency", release, "x86_64"};
    const auto verdict = doctor::conclude(doctor::examine(system, asked), asked);
    CHECK(verdict.what == "rx.ko will run here");
    CHECK(verdict.first == "stapgen exec rx.ko");
}

TEST_CASE("the most urgent rows come first, among equals as they were") {
    const auto row = [](std::string id, State state) { return doctor::Check{.id = std::move(id), .state = state}; };
    const auto sorted =
        doctor::most_urgent_first({row("a", State::ok), row("b", State::worked_around), row("c", State::missing),
                                   row("d", State::note), row("e", State::missing), row("f", State::ok)});
    std::string order;
    for (const auto& check : sorted)
        order += check.id;
    CHECK(order == "cedbaf");
}

TEST_CASE("a remedy is one line: words, the command of this family, what else would do") {
    const doctor::Remedy all{"do this", host::install_stap(), "or leave it"};
    CHECK(doctor::remedy_text(all, host::Distribution::redhat) == "do this: dnf install systemtap; or leave it");
    CHECK(doctor::remedy_text({{}, host::install_stap(), {}}, host::Distribution::suse) == "zypper install systemtap");
    CHECK(doctor::remedy_text({"do this"}, host::Distribution::other) == "do this");
    CHECK(doctor::remedy_text({}, host::Distribution::other).empty());
}

TEST_CASE("a failure ends with the rows of its cause that are not ok, and with no others") {
    auto system = debian_13();
    const auto ids = [](const std::vector<doctor::Check>& checks) {
        std::string all;
        for (const auto& check : checks)
            all += check.id + " ";
        return all;
    };
    auto checks = doctor::examine(system, question(system));
    const auto about = [&](std::string_view message) {
        const auto table = launch::message_table();
        const auto row = std::ranges::find(table, message, &launch::MessageRow::id);
        REQUIRE(row != table.end());
        return doctor::not_ok(checks, row->checks);
    };
    CHECK(ids(about("insert-permission")).empty());
    CHECK(ids(about("tracepoint-builder")) == "systemtap ");
    CHECK(ids(about("parse-error")).empty());
    system.files["/sys/kernel/security/lockdown"] = "none [integrity] confidentiality\n";
    system.files["/proc/sys/kernel/modules_disabled"] = "1\n";
    auto asked = question(system);
    asked.workarounds = {workaround("count-args", "twice"), workaround("page-end", "lost")};
    asked.choice.without = {"page-end", "symbol-table"};
    checks = doctor::examine(system, asked);
    CHECK(ids(about("insert-permission")) == "modules module-signing ");
    CHECK(ids(about("runtime-error")) == "systemtap page-end ");
    CHECK(ids(about("symbol-table")) == "symbol-table ");
}

TEST_CASE("the checks that a message names are there") {
    const auto system = debian_13();
    std::set<std::string> ids{"workarounds"};
    for (const auto& check : doctor::examine(system, question(system)))
        ids.insert(check.id);
    std::size_t named = 0;
    for (const auto& row : launch::message_table()) {
        CAPTURE(row.id);
        for (const auto id : base::words(row.checks)) {
            CHECK(ids.contains(std::string(id)));
            ++named;
        }
    }
    CHECK(named > 40);
}
