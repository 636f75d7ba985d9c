// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "machine.h"

using namespace stapgen;
using namespace stapgen::doctor_test;
using doctor::State;

namespace {

doctor::Verdict verdict(const host::FakeSystem& system) {
    const auto asked = question(system);
    return doctor::conclude(doctor::examine(system, asked), asked);
}

/// Nothing of the kernel's headers.
void remove_headers(host::FakeSystem& system) {
    std::erase_if(system.files,
                  [](const auto& file) { return file.first.string().find("/build/") != std::string::npos; });
}

}  // namespace

TEST_CASE("an ordinary machine is no platform of its own") {
    CHECK(check(debian_13(), "platform").found.empty());
}

TEST_CASE("systems that are delivered whole are known by os-release, or inside a container by the kernel's release") {
    const auto named = [](std::string os_release, std::string kernel) {
        auto system = debian_13();
        system.files["/etc/os-release"] = std::move(os_release);
        system.release = std::move(kernel);
        const auto found = check(system, "platform");
        CHECK(found.state == (found.found.empty() ? State::ok : State::note));
        return found.found.substr(0, found.found.find(':'));
    };
    CHECK(named("NAME=Bottlerocket\nID=bottlerocket\n", "6.1.66") == "Bottlerocket");
    CHECK(named("ID=talos\n", "6.12.0") == "Talos");
    CHECK(named("ID=debian\n", "6.12.0-talos") == "Talos");
    CHECK(named("ID=flatcar\nID_LIKE=coreos\n", "6.6.95") == "Flatcar");
    CHECK(named("ID=alpine\n", "5.4.66-flatcar") == "Flatcar");
    CHECK(named("NAME=\"Container-Optimized OS\"\nID=cos\n", "6.6.0+") == "Container-Optimized OS");
    CHECK(named("ID=chromeos\nID_LIKE=chromiumos\n", "5.15.0") == "ChromeOS");
    CHECK(named("ID=ubuntu\n", "5.15.90.1-microsoft-standard-WSL2") == "WSL");
    CHECK(named("ID=ubuntu\n", "4.4.0-19041-Microsoft") == "WSL");
    CHECK(named("ID=debian\nVERSION_CODENAME=talos\n", "6.12.0").empty());
}

TEST_CASE("where a platform explains what is missing its sentence is the verdict, and the first of a run's refusal") {
    auto system = debian_13();
    system.release = "5.15.90.1-microsoft-standard-WSL2";
    const auto said = verdict(system);
    CHECK(said.unable == std::vector<std::string>{"rx-latency"});
    CHECK(
        said.first.starts_with("WSL: the kernel is Microsoft's, and no distribution has its headers: run stapgen on "));
    const auto checks = doctor::examine(system, question(system));
    const auto refused = doctor::able(checks, {.name = "rx-latency"}, host::Distribution::debian);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what == "WSL: the kernel is Microsoft's, and no distribution has its headers");
    CHECK(refused.error().hint.find("headers") != std::string::npos);
    // With headers of one's own nothing is missing.
    system = debian_13();
    system.files["/etc/os-release"] = "ID=flatcar\n";
    CHECK(check(system, "platform").state == State::note);
    CHECK(verdict(system).unable.empty());
    CHECK(doctor::able(doctor::examine(system, question(system)), {.name = "rx-latency"}, host::Distribution::other));
}

TEST_CASE("a container is told from who started it, and what it lacks is the host's headers") {
    using Files = std::map<std::filesystem::path, std::string>;
    const auto of = [](const Files& files) {
        auto system = debian_13();
        system.files.insert(files.begin(), files.end());
        return check(system, "container").found;
    };
    CHECK(of({{"/run/systemd/container", "lxc\n"}}) == "a container (lxc), whose kernel is the host's");
    CHECK(of({{"/proc/1/environ", std::string("PATH=/bin\0container=podman\0", 26)}})
              .starts_with("a container (podman)"));
    CHECK(of({{"/.dockerenv", ""}}).starts_with("a container (docker)"));
    CHECK(of({{"/run/.containerenv", ""}}).starts_with("a container (podman)"));
    CHECK(of({{"/proc/1/cgroup", "11:cpu:/kubepods/besteffort/pod1\n"}}).starts_with("a container (kubepods)"));
    CHECK(of({{"/proc/1/cgroup", "0::/init.scope\n"}, {"/proc/1/environ", "HOME=/"}}).empty());

    auto system = debian_13();
    system.files["/.dockerenv"] = "";
    CHECK(verdict(system).unable.empty());
    CHECK(check(system, "container").state == State::ok);
    remove_headers(system);
    CHECK(check(system, "container").found ==
          "a container (docker), whose kernel is the host's: its headers are not in here");
    CHECK(verdict(system).first.starts_with(
        "start with container: run stapgen on the host, or start the container with --privileged -v /lib/modules"));
    // Without the capability that comes first.
    system.files["/proc/self/status"] = "CapEff:\t00000000a80425fb\n";
    CHECK(verdict(system).first.starts_with(
        "start with privileges: run it on the host, or give the container --privileged"));
}
