// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/host.h"

#include <doctest/doctest.h>

#include "base/files.h"
#include "fakes/system/fake_system.h"

using namespace stapgen::host;

namespace {

constexpr auto release = "6.1.0-56-amd64";

FakeSystem debian_12() {
    FakeSystem system;
    system.programs = {{"stap", "/usr/bin/stap"}, {"/usr/bin/staprun", "/usr/bin/staprun"}};
    system.output[{"/usr/bin/stap", "--version"}] =
        "Systemtap translator/driver (version 4.8/0.188, Debian version 4.8-2)\n";
    system.files = {
        {"/etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"},
        {"/lib/modules/6.1.0-56-amd64/build/.config", ""},
        {"/lib/modules/6.1.0-56-amd64/build/Makefile", "include /usr/src/linux-headers-6.1.0-56-common/Makefile\n"},
        {"/usr/src/linux-headers-6.1.0-56-common/include/linux/task_work.h", ""},
        {"/usr/share/systemtap/runtime/stp_task_work.c", ""},
        {"/boot/System.map-6.1.0-56-amd64",
         "ffffffffffffffff B The real System.map is in the linux-image-dbg package\n"},
        {"/proc/modules", ""},
        {"/proc/kallsyms", "0000000000000000 T register_kprobe\n"},
    };
    return system;
}

}  // namespace

TEST_CASE("stap's version is read from old, new and vendors' texts, and ordered by number") {
    const auto debian = parse_stap_version("Systemtap translator/driver (version 4.8/0.188, Debian version 4.8-2)\n");
    REQUIRE(debian);
    CHECK(debian->major == 4);
    CHECK(debian->minor == 8);
    CHECK(debian->debian);
    const auto plain = parse_stap_version("Systemtap translator/driver (version 5.1/0.192, non-git sources)");
    const auto git = parse_stap_version("SystemTap translator/driver (version 5.6/0.195, release-5.5-12-g1a2b)");
    const auto old = parse_stap_version("SystemTap translator/driver (version 1.3/0.141 non-git sources)");
    REQUIRE(plain);
    REQUIRE(git);
    REQUIRE(old);
    CHECK_FALSE(plain->debian);
    CHECK(*old < *debian);
    CHECK(*debian < *plain);
    CHECK(*plain < *git);
    CHECK(*parse_version_number("2.10") > *parse_version_number("2.9"));
    CHECK_FALSE(parse_stap_version("bash: stap: command not found"));
    CHECK_FALSE(parse_stap_version("(version x)"));
}

TEST_CASE("so is the newest kernel that its makers tried, where it says so") {
    const auto tested = [](const char* output) { return parse_stap_version(output)->tested_to; };
    CHECK(tested("Systemtap translator/driver (version 5.1/0.192, Debian version 5.1-5)\n"
                 "Copyright (C) 2005-2024 Red Hat, Inc. and others\n"
                 "tested kernel versions: 2.6.32 ... 6.9-rc0\nenabled features: AVAHI BPF\n") == "6.9-rc0");
    CHECK(tested("(version 5.6/0.196)\ntested kernel versions: 3.10 ... 7.3.0-rc3") == "7.3.0-rc3");
    CHECK(tested("(version 1.3/0.141)\ntested kernel versions: all of them\n").empty());
    CHECK(tested("(version 1.3/0.141)").empty());
}

TEST_CASE("what Debian 12 has is found, and its symbol table is seen to be a stub") {
    const auto target = inspect(debian_12(), {});
    CHECK(target.release == release);
    CHECK(target.running);
    CHECK(target.release_option.empty());
    CHECK(target.source == "/usr/src/linux-headers-6.1.0-56-common");
    CHECK(target.stap == "/usr/bin/stap");
    CHECK(target.staprun == "/usr/bin/staprun");
    CHECK(target.runtime == "/usr/share/systemtap/runtime");
    CHECK(target.symbol_table.state == SymbolTableState::stub);
    CHECK(target.distribution == Distribution::debian);
}

TEST_CASE("debuginfo is found where stap looks, or asked of a server, and a vmlinux with nothing but BTF is none") {
    const auto found = [](const FakeSystem& system, const TargetRequest& request = {}) {
        return inspect(system, request).debuginfo;
    };
    auto system = debian_12();
    CHECK(found(system).empty());
    CHECK(found(system, {.debuginfod_urls = "https://debuginfod.example"}) == "https://debuginfod.example");
    for (const auto* file :
         {"/usr/lib/debug/boot/vmlinux-6.1.0-56-amd64", "/usr/lib/debug/lib/modules/6.1.0-56-amd64/vmlinux.debug",
          "/usr/lib/debug/lib/modules/6.1.0-56-amd64/vmlinux", "/lib/modules/6.1.0-56-amd64/build/vmlinux",
          "/boot/vmlinux-6.1.0-56-amd64"}) {
        CAPTURE(file);
        auto with = system;
        with.files[file] = ".BTF";
        CHECK(found(with).empty());
        with.files[file] = ".debug_info";
        CHECK(found(with) == file);
        CHECK(found(with, {.release = "6.1.0-99-amd64"}).empty());
    }
}

TEST_CASE("DWARF is seen in a kernel that has it and not in a text") {
    const auto machine = real_system();
    const auto& system = *machine;
    CHECK(system.has_dwarf(FAKE_VMLINUX));
    CHECK_FALSE(system.has_dwarf(__FILE__));
    CHECK_FALSE(system.has_dwarf("/no/such/file"));
}

TEST_CASE("a folder's names are sorted, and free space is that of the nearest folder that is there") {
    const auto folder = stapgen::base::PrivateDirectory::create().value();
    REQUIRE(stapgen::base::create_file(folder.path() / "b", ""));
    REQUIRE(stapgen::base::create_file(folder.path() / "a", ""));
    const auto machine = real_system();
    const auto& system = *machine;
    CHECK(system.list(folder.path()) == std::vector<std::string>{"a", "b"});
    CHECK(system.list(folder.path() / "none").empty());
    CHECK(system.free_space(folder.path()) > 0);
    CHECK(system.free_space(folder.path() / "x" / "y").has_value());
    FakeSystem fake;
    fake.files = {{"/c/b/1", ""}, {"/c/a", ""}, {"/c/b/2", ""}, {"/d", ""}};
    CHECK(fake.list("/c") == std::vector<std::string>{"a", "b"});
    CHECK(fake.list("/c/a/").empty());
}

TEST_CASE("a build tree given by its path says itself which release it is") {
    auto system = debian_12();
    system.files["/tmp/tree/.config"] = "";
    system.files["/tmp/tree/Makefile"] = "";
    system.files["/tmp/tree/include/config/kernel.release"] = "7.2.12\n";
    const auto target = inspect(system, {.stap = "stap", .release = "/tmp/tree/"});
    CHECK(target.release == "7.2.12");
    CHECK(target.release_option == "/tmp/tree");
    system.files.erase("/tmp/tree/include/config/kernel.release");
    CHECK(inspect(system, {.stap = "stap", .release = "/tmp/tree"}).release.empty());
}

TEST_CASE("the architecture is what the kernel's options say, else its release, else this machine's") {
    auto system = debian_12();
    CHECK(inspect(system, {}).architecture == "x86_64");
    CHECK_FALSE(inspect(system, {}).is_foreign);
    CHECK(inspect(system, {.release = "6.1.0-56-arm64"}).is_foreign);
    CHECK(inspect(system, {.release = "6.12.118+deb13-arm64-16k"}).architecture == "aarch64");
    CHECK(inspect(system, {.release = "5.14.0-427.el9.aarch64+debug"}).architecture == "aarch64");
    CHECK(inspect(system, {.release = "6.1.0-99"}).architecture == "x86_64");
    const std::string build = "/lib/modules/6.1.0-56-arm64/build";
    system.files[build + "/.config"] = "#\nCONFIG_ARM64=y\n";
    const auto other = inspect(system, {.release = "6.1.0-56-arm64"});
    CHECK(other.architecture == "aarch64");
    CHECK(other.is_foreign);
    CHECK(other.cross_compile == "aarch64-linux-gnu-");
    // Debian's name their compiler.
    system.files[build + "/.kernelvariables"] = "";
    CHECK(inspect(system, {.release = "6.1.0-56-arm64"}).cross_compile.empty());
    system.files[build + "/.config"] = "#\nCONFIG_X86_64=y\n";
    CHECK(inspect(system, {.release = "6.1.0-56-arm64"}).architecture == "x86_64");
    system.architecture = "aarch64";
    CHECK(inspect(system, {.release = "6.1.0-56-arm64"}).cross_compile.empty());
    CHECK(inspect(system, {.release = "6.1.0-56-arm64"}).is_foreign);
}

TEST_CASE("a file says for which machine it is") {
    CHECK(elf_machine(FAKE_VMLINUX) == real_system()->running_architecture());
    CHECK(elf_machine(__FILE__).empty());
    CHECK(elf_machine("/no/such/file").empty());
}

TEST_CASE("stap reads the first symbol table it can open, and Debian's newer ones look elsewhere first") {
    auto system = debian_12();
    system.files["/usr/lib/debug/boot/System.map-6.1.0-56-amd64"] = "ffffffff81000000 T _text\n";
    CHECK(inspect(system, {}).symbol_table.state == SymbolTableState::stub);
    system.output[{"/usr/bin/stap", "--version"}] = "(version 5.1/0.192, Debian version 5.1-5)";
    CHECK(inspect(system, {}).symbol_table.state == SymbolTableState::usable);
    system.files.erase("/usr/lib/debug/boot/System.map-6.1.0-56-amd64");
    system.files.erase("/boot/System.map-6.1.0-56-amd64");
    CHECK(inspect(system, {}).symbol_table.state == SymbolTableState::missing);
}
