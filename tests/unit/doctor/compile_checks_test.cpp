// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "machine.h"
#include "unit/packed.h"

using namespace stapgen;
using namespace stapgen::doctor_test;
using doctor::State;
using host::Distribution;

namespace {

constexpr auto boot_config = "/boot/config-6.12.117+deb13-amd64";

std::string without(std::string text, std::string_view part) {
    const auto at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.erase(at, part.size());
}

}  // namespace

TEST_CASE("SystemTap is missing, does not say what it is, or is older than the kernel") {
    auto system = debian_13();
    CHECK(check(system, "systemtap").state == State::note);
    CHECK(check(system, "systemtap").found == "SystemTap 5.1 supports kernels up to 6.9-rc0; this is 6.12");
    system.output[{"/usr/bin/stap", "--version"}] =
        "(version 5.6/0.196, Debian version 5.6-1)\ntested kernel versions: 3.10 ... 7.3.0-rc3\n";
    CHECK(check(system, "systemtap").state == State::ok);
    CHECK(check(system, "systemtap").found == "SystemTap 5.6, which supports kernels up to 7.3.0-rc3");
    system.output[{"/usr/bin/stap", "--version"}] = "(version 1.3/0.141)";
    CHECK(check(system, "systemtap").found == "SystemTap 1.3");
    system.output.clear();
    CHECK(check(system, "systemtap").state == State::missing);
    system.programs.erase("stap");
    CHECK(check(system, "systemtap").found == "SystemTap is not installed: no 'stap' in PATH");
    CHECK(remedy(check(system, "systemtap")) == "apt-get install systemtap");
    CHECK(remedy(check(system, "systemtap"), Distribution::suse) == "zypper install systemtap");
    CHECK(check(system, "systemtap", {.stap = "/no/stap"}).found == "/no/stap is not a program");
}

TEST_CASE("headers are asked for by the name of the package on this distribution") {
    auto system = debian_13();
    CHECK(check(system, "headers").state == State::ok);
    system.files.erase("/lib/modules/6.12.117+deb13-amd64/build/Makefile");
    CHECK(check(system, "headers").found == "/lib/modules/6.12.117+deb13-amd64/build/Makefile does not exist");
    CHECK(remedy(check(system, "headers"))
              .starts_with("apt-get install linux-headers-6.12.117+deb13-amd64; without such a package, "));
    system.release = "5.14.0-427.13.1.el9_4.x86_64";
    CHECK(remedy(check(system, "headers"), Distribution::redhat)
              .starts_with("dnf install kernel-devel-5.14.0-427.13.1.el9_4.x86_64; "));
    system.release = "5.14.21-150400.24.63-default";
    CHECK(remedy(check(system, "headers"), Distribution::suse)
              .starts_with("zypper install kernel-default-devel=5.14.21-150400.24.63; "));
    const auto other = check(system, "headers", {.release = "9.9.9-none"});
    CHECK(remedy(other) == "apt-get install linux-headers-9.9.9-none");
    CHECK(check(system, "headers", {.release = "/tmp/tree"}).found == "/tmp/tree does not state its kernel release");
}

TEST_CASE("the compiler is the one that Debian's headers name, elsewhere the plain one") {
    auto system = debian_13();
    CHECK(check(system, "compiler").found == "x86_64-linux-gnu-gcc-14 and make");
    system.programs.erase("x86_64-linux-gnu-gcc-14");
    system.programs["gcc"] = "/usr/bin/gcc";
    CHECK(check(system, "compiler").state == State::missing);
    CHECK(remedy(check(system, "compiler")) == "apt-get install make gcc-14");
    system.programs.erase("make");
    CHECK(check(system, "compiler").found == "not installed: x86_64-linux-gnu-gcc-14 and make");
    system.programs["make"] = "/usr/bin/make";
    system.files.erase("/lib/modules/6.12.117+deb13-amd64/build/.kernelvariables");
    CHECK(check(system, "compiler").found == "gcc and make");
    system.files[boot_config] = "#\nCONFIG_CC_VERSION_TEXT=\"clang version 17.0.6\"\nCONFIG_MODULES=y\n";
    CHECK(check(system, "compiler").state == State::note);
}

TEST_CASE("for another architecture the compiler is a cross compiler, and the headers are unpacked") {
    auto system = debian_13();
    const host::TargetRequest request{.release = "6.12.118+deb13-arm64"};
    const auto headers = check(system, "headers", request);
    CHECK(headers.state == State::missing);
    CHECK(headers.remedy.commands.debian.find("dpkg -x linux-headers-6.12.118+deb13-arm64_*.deb /") !=
          std::string::npos);
    const std::string build = "/lib/modules/6.12.118+deb13-arm64/build";
    system.files[build + "/.config"] =
        "#\nCONFIG_CC_VERSION_TEXT=\"aarch64-linux-gnu-gcc-14 (Debian 14.2.0-19) 14.2.0\"\nCONFIG_ARM64=y\n";
    system.files[build + "/.kernelvariables"] = "";
    CHECK(remedy(check(system, "compiler", request)) == "apt-get install make gcc-14-aarch64-linux-gnu");
    system.files.erase(build + "/.kernelvariables");
    CHECK(remedy(check(system, "compiler", request)) == "apt-get install make gcc-aarch64-linux-gnu");
}

TEST_CASE("headers of another architecture than the release names, or than this machine's kernel has, are refused") {
    auto system = debian_13();
    const std::string own = "/lib/modules/6.12.117+deb13-amd64/build",
                      other = "/lib/modules/6.12.118+deb13-arm64/build",
                      unnamed = "/lib/modules/6.8.0-45-generic/build";
    for (const auto& build : {other, unnamed})
        system.files[build + "/Makefile"] = "";
    system.files[other + "/.config"] = "#\nCONFIG_X86_64=y\n";
    const auto refused = check(system, "headers", {.release = "6.12.118+deb13-arm64"});
    CHECK(refused.state == State::missing);
    CHECK(refused.found == other + " is for x86_64, and 6.12.118+deb13-arm64 is a kernel of aarch64");
    CHECK(remedy(refused).find("dpkg -x linux-headers-6.12.118+deb13-arm64_*.deb /") != std::string::npos);
    system.files[other + "/.config"] = "#\nCONFIG_ARM64=y\n";
    CHECK(check(system, "headers", {.release = "6.12.118+deb13-arm64"}).state == State::ok);
    system.files[own + "/.config"] = "#\nCONFIG_ARM64=y\n";
    CHECK(check(system, "headers").state == State::missing);
    CHECK(remedy(check(system, "headers")).starts_with("apt-get install linux-headers-6.12.117+deb13-amd64; "));
    // Where neither says it, the options do.
    system.files[unnamed + "/.config"] = "#\nCONFIG_ARM64=y\n";
    CHECK(check(system, "headers", {.release = "6.8.0-45-generic"}).state == State::ok);
    system.release = "6.8.0-45-generic";
    CHECK(check(system, "headers").found == unnamed + " is for aarch64, and 6.8.0-45-generic is a kernel of x86_64");
}

TEST_CASE("an option that the kernel lacks is named, with the file that says so") {
    auto system = debian_13();
    CHECK(check(system, "kernel-options").found ==
          "KPROBES and 6 more that SystemTap needs (/boot/config-6.12.117+deb13-amd64)");
    const auto config = system.files[boot_config];
    system.files[boot_config] = without(config, "CONFIG_RELAY=y\n");
    const auto found = check(system, "kernel-options");
    CHECK(found.state == State::missing);
    CHECK(found.found == "the kernel lacks CONFIG_RELAY (/boot/config-6.12.117+deb13-amd64)");
    system.files[boot_config] = without(config, "CONFIG_KPROBES=y\n") + "# CONFIG_KPROBES is not set\n";
    CHECK(check(system, "kernel-options").found ==
          "the kernel lacks CONFIG_KPROBES (/boot/config-6.12.117+deb13-amd64)");
    system.files[boot_config] = without(config, "CONFIG_DEBUG_FS=y\n") + "CONFIG_DEBUG_FS=m\n";
    CHECK(check(system, "kernel-options").state == State::ok);
}

TEST_CASE("the running kernel's own word on its options comes first, unpacked") {
    auto system = debian_13();
    const auto config = system.files[boot_config];
    system.files["/proc/config.gz"] = packed::gzip(without(config, "CONFIG_KALLSYMS=y\n"));
    CHECK(check(system, "kernel-options").found == "the kernel lacks CONFIG_KALLSYMS (/proc/config.gz)");
    CHECK(check(system, "kernel-options", {.release = "6.1.0-56-amd64"}).found ==
          "unknown: no file with the kernel's options");
    // Cut short or damaged, what can be read of it counts.
    system.files["/proc/config.gz"].resize(20);
    CHECK(check(system, "kernel-options").state != State::worked_around);
    system.files["/proc/config.gz"] = "not packed";
    CHECK(check(system, "kernel-options").state == State::ok);
}

TEST_CASE("without a file of options kprobes are looked for in the kernel") {
    auto system = debian_13();
    system.files.erase(boot_config);
    system.files.erase("/lib/modules/6.12.117+deb13-amd64/build/.config");
    CHECK(check(system, "kernel-options").state == State::note);
    system.files["/proc/kallsyms"] = "0000000000000000 T other\n";
    CHECK(check(system, "kernel-options").found == "the kernel lacks CONFIG_KPROBES (/proc/kallsyms)");
    system.files.erase("/proc/kallsyms");
    CHECK(check(system, "kernel-options").state == State::note);
}

TEST_CASE(
    "a stub in place of the symbol table is worked around for the running kernel, and for another with --symbols") {
    auto system = debian_13();
    auto found = check(system, "symbol-table");
    CHECK(found.state == State::worked_around);
    CHECK(found.workaround == "symbol-table");
    CHECK(found.found ==
          "/boot/System.map-6.12.117+deb13-amd64 is a stub without functions; stap gets the names from /proc/kallsyms "
          "instead");

    auto asked = question(system);
    asked.choice.without = {"symbol-table"};
    found = doctor_test::check(doctor::examine(system, asked), "symbol-table");
    CHECK(found.state == State::note);
    CHECK(found.found.ends_with("its workaround is switched off: stap finds no function"));

    system.release = "6.1.0-56-amd64";
    const host::TargetRequest other{.release = release};
    found = check(system, "symbol-table", other);
    CHECK(found.state == State::missing);
    CHECK(found.blocks == doctor::Blocks::functions);
    CHECK(remedy(found).find("--symbols") != std::string::npos);
    asked = question(system, other);
    asked.symbols = "kallsyms.gz";
    CHECK(doctor_test::check(doctor::examine(system, asked), "symbol-table").state == State::worked_around);
    // With debuginfo stap finds nearly all of them there.
    system.files["/usr/lib/debug/boot/vmlinux-6.12.117+deb13-amd64"] = ".debug_info";
    CHECK(check(system, "symbol-table", other).state == State::note);

    system = debian_13();
    system.files["/boot/System.map-6.12.117+deb13-amd64"] = "ffffffff81000000 T _text\n";
    CHECK(check(system, "symbol-table").state == State::ok);
    system.files.erase("/boot/System.map-6.12.117+deb13-amd64");
    CHECK(check(system, "symbol-table").found.starts_with("there is no /boot/System.map-6.12.117+deb13-amd64; "));
}

TEST_CASE("who is not root needs user namespaces for that") {
    auto system = debian_13();
    system.root = false;
    system.member_of = {"stapusr", "stapdev"};
    CHECK(check(system, "symbol-table").state == State::worked_around);
    for (const auto& [file, value] :
         std::map<std::string, std::string>{{"/proc/sys/kernel/unprivileged_userns_clone", "0\n"},
                                            {"/proc/sys/user/max_user_namespaces", "0\n"},
                                            {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"}}) {
        auto without_them = system;
        without_them.files[file] = value;
        CAPTURE(file);
        CHECK(check(without_them, "symbol-table").state == State::missing);
    }
}

TEST_CASE("debuginfo is missing only where it is required") {
    auto system = debian_13();
    CHECK(check(system, "debuginfo").state == State::ok);
    auto asked = question(system);
    asked.debuginfo_required = true;
    const auto found = doctor_test::check(doctor::examine(system, asked), "debuginfo");
    CHECK(found.state == State::missing);
    CHECK(remedy(found).starts_with("apt-get install linux-image-6.12.117+deb13-amd64-dbg; or set DEBUGINFOD_URLS"));
}

TEST_CASE("each workaround that is needed is a row of its name, and one that is switched off says so") {
    const auto system = debian_13();
    auto asked = question(system);
    asked.workarounds = {workaround("count-args", "a macro is defined twice"),
                         workaround("page-end", "records are lost")};
    asked.choice.without = {"page-end"};
    const auto checks = doctor::examine(system, asked);
    CHECK(check(checks, "count-args").state == State::worked_around);
    CHECK(check(checks, "count-args").found == "a macro is defined twice");
    CHECK(check(checks, "page-end").state == State::note);
    CHECK(check(checks, "page-end").workaround == "page-end");
}

TEST_CASE("a fault of SystemTap's is mended, or a note, or no matter where only other scripts meet it") {
    const auto system = debian_13();
    auto asked = question(system);
    auto mended = workaround("timing-cpu", "a time is another CPU's"), met = workaround("cpu-hotplug", "a crash"),
         other = workaround("nmi-locks", "a dead CPU");
    mended.mended_in = "5.2";
    mended.patches = {{"stat.c", "a", "b"}};
    met.mended_in = "4.8";
    other.mended_in = "5.1";
    other.only_in = {"perf."};
    asked.workarounds = {mended, met, other};
    auto checks = doctor::examine(system, asked);
    CHECK(check(checks, "timing-cpu").state == State::worked_around);
    CHECK(check(checks, "timing-cpu").found ==
          "a time is another CPU's; fixed in a private copy of its runtime, as in SystemTap 5.2");
    asked.choice.none = true;
    checks = doctor::examine(system, asked);
    CHECK(check(checks, "timing-cpu").state == State::note);
    CHECK(check(checks, "timing-cpu").remedy.words == "omit --no-workaround, or install SystemTap 5.2");
    CHECK(check(checks, "cpu-hotplug").state == State::note);
    CHECK(check(checks, "cpu-hotplug").found == "a crash");
    CHECK(check(checks, "cpu-hotplug").remedy.words == "install SystemTap 4.8 or newer");
    CHECK(check(checks, "cpu-hotplug").workaround.empty());
    CHECK(check(checks, "nmi-locks").state == State::ok);
    CHECK(check(checks, "nmi-locks").found ==
          "a dead CPU; stapgen's recipes avoid that, a script of your own with perf. meets it until SystemTap 5.1");
}

TEST_CASE("stap is spared headers of tracepoints, unless that is switched off or nothing may be mounted") {
    auto system = debian_13();
    const auto find = [&](const doctor::Question& asked) {
        const auto checks = doctor::examine(system, asked);
        return doctor_test::check(checks, "trace-headers");
    };
    auto asked = doctor_test::question(system);
    system.files[asked.target.source / "include/trace/events/skb.h"] = "TRACE_EVENT(kfree_skb,";
    CHECK(find(asked).state == State::worked_around);
    CHECK(find(asked).workaround == "trace-headers");
    asked.choice.without = {"trace-headers"};
    CHECK(find(asked).state == State::note);
    asked.choice = {};
    system.root = false;
    CHECK(find(asked).state == State::worked_around);
    system.files["/proc/sys/user/max_user_namespaces"] = "0";
    CHECK(find(asked).state == State::note);
}
