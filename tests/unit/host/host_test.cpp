#include "host/host.h"

#include <doctest/doctest.h>

#include "host/stap_version.h"

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

TEST_CASE("Debian 12 with headers can compile and load, and its symbol table is seen to be a stub") {
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
    CHECK(obstacles_to_compile(target).empty());
    CHECK(obstacles_to_load(target).empty());
}

TEST_CASE("a machine with nothing is told exactly what to install") {
    FakeSystem system;
    system.files = {{"/etc/os-release", "ID=ubuntu\nID_LIKE=debian\n"}};
    auto obstacles = obstacles_to_compile(inspect(system, {}));
    REQUIRE(obstacles.size() == 2);
    CHECK(obstacles[0].kind == stapgen::base::ErrorKind::cannot_here);
    CHECK(obstacles[0].hint == "apt-get install systemtap linux-headers-6.1.0-56-amd64");
    CHECK_FALSE(none_of(obstacles));

    system.files = {{"/etc/os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"}};
    CHECK(obstacles_to_compile(inspect(system, {}))[0].hint == "dnf install systemtap kernel-devel-6.1.0-56-amd64");
    system.files.clear();
    const auto both = obstacles_to_compile(inspect(system, {}))[0].hint;
    CHECK(both.find("apt-get") != std::string::npos);
    CHECK(both.find("dnf") != std::string::npos);
}

TEST_CASE("each thing that keeps a module out of the kernel is named") {
    auto system = debian_12();
    system.root = false;
    CHECK(obstacles_to_load(inspect(system, {}))[0].what.find("stapusr") != std::string::npos);
    system.member_of = {"stapusr", "stapdev"};
    CHECK(obstacles_to_load(inspect(system, {})).empty());

    system.files["/sys/kernel/security/lockdown"] = "none [integrity] confidentiality\n";
    CHECK(obstacles_to_load(inspect(system, {}))[0].what.find("lockdown") != std::string::npos);
    system.files["/sys/kernel/security/lockdown"] = "[none] integrity confidentiality\n";
    CHECK(obstacles_to_load(inspect(system, {})).empty());

    system.files["/proc/kallsyms"] = "0000000000000000 T other\n";
    CHECK(obstacles_to_load(inspect(system, {}))[0].what.find("kprobes") != std::string::npos);
    system.files.erase("/proc/modules");
    CHECK(obstacles_to_load(inspect(system, {}))[0].what.find("no loadable modules") != std::string::npos);

    const auto other = inspect(debian_12(), {.stap = "stap", .release = "6.12.1"});
    CHECK(other.release_option == "6.12.1");
    CHECK(obstacles_to_load(other)[0].what.find("6.12.1") != std::string::npos);
}

TEST_CASE("debuginfo is found where stap looks, or asked of a server, or it is said what to install") {
    const auto obstacles = [](const FakeSystem& system, const TargetRequest& request = {}) {
        return obstacles_to_debuginfo(inspect(system, request));
    };
    auto system = debian_12();
    REQUIRE(obstacles(system).size() == 1);
    CHECK(obstacles(system)[0].kind == stapgen::base::ErrorKind::cannot_here);
    CHECK(obstacles(system)[0].what.starts_with("no debuginfo of kernel 6.1.0-56-amd64: "));
    CHECK(obstacles(system)[0].hint.starts_with("apt-get install linux-image-6.1.0-56-amd64-dbg;"));
    CHECK(obstacles(system, {.debuginfod_urls = "https://debuginfod.example"}).empty());
    for (const auto* file :
         {"/usr/lib/debug/boot/vmlinux-6.1.0-56-amd64", "/usr/lib/debug/lib/modules/6.1.0-56-amd64/vmlinux.debug",
          "/usr/lib/debug/lib/modules/6.1.0-56-amd64/vmlinux", "/lib/modules/6.1.0-56-amd64/build/vmlinux",
          "/boot/vmlinux-6.1.0-56-amd64"}) {
        CAPTURE(file);
        auto with = system;
        with.files[file] = "";
        CHECK(inspect(with, {}).debuginfo == file);
        CHECK(obstacles(with).empty());
        CHECK_FALSE(obstacles(with, {.release = "6.1.0-99-amd64"}).empty());
    }
}

TEST_CASE("a build tree given by its path says itself which release it is") {
    auto system = debian_12();
    system.files["/tmp/tree/.config"] = "";
    system.files["/tmp/tree/Makefile"] = "";
    system.files["/tmp/tree/include/config/kernel.release"] = "7.2.12\n";
    const auto target = inspect(system, {.stap = "stap", .release = "/tmp/tree/"});
    CHECK(target.release == "7.2.12");
    CHECK(target.release_option == "/tmp/tree");
    CHECK(obstacles_to_compile(target).empty());
    system.files.erase("/tmp/tree/include/config/kernel.release");
    CHECK_FALSE(obstacles_to_compile(inspect(system, {.stap = "stap", .release = "/tmp/tree"})).empty());
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
