// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/packages.h"

#include <doctest/doctest.h>

using namespace stapgen::host;

TEST_CASE("a distribution is known by its own name or by those it is like") {
    CHECK(distribution_of("PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nID=debian\n") == Distribution::debian);
    CHECK(distribution_of("ID=ubuntu\nID_LIKE=debian\n") == Distribution::debian);
    CHECK(distribution_of("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n") == Distribution::redhat);
    CHECK(distribution_of("ID=fedora\n") == Distribution::redhat);
    CHECK(distribution_of("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n") == Distribution::suse);
    CHECK(distribution_of("ID=\"sles\"\nID_LIKE=\"suse\"\n") == Distribution::suse);
    CHECK(distribution_of("ID=arch\n") == Distribution::other);
    CHECK(distribution_of("") == Distribution::other);
}

TEST_CASE("a distribution is known by its kernel's release") {
    CHECK(distribution_of_release("5.14.0-427.13.1.el9_4.x86_64") == Distribution::redhat);
    CHECK(distribution_of_release("6.8.5-301.fc40.x86_64") == Distribution::redhat);
    CHECK(distribution_of_release("6.8.0-41-generic") == Distribution::debian);
    CHECK(distribution_of_release("6.8.0-1010-azure") == Distribution::debian);
    CHECK(distribution_of_release("6.12.117+deb13-amd64") == Distribution::debian);
    CHECK(distribution_of_release("5.14.21-150400.24.63-default") == Distribution::suse);
    CHECK(distribution_of_release("5.14.21-150400.24.63-azure") == Distribution::suse);
    CHECK(distribution_of_release("6.9.3") == Distribution::other);
}

TEST_CASE("headers and debuginfo are asked for under the names that belong to the kernel") {
    CHECK(install_headers("6.12.117+deb13-amd64").debian == "apt-get install linux-headers-6.12.117+deb13-amd64");
    CHECK(install_debuginfo("6.1.0-56-amd64").debian == "apt-get install linux-image-6.1.0-56-amd64-dbg");
    CHECK(install_headers("5.14.0-427.13.1.el9_4.x86_64").redhat ==
          "dnf install kernel-devel-5.14.0-427.13.1.el9_4.x86_64");
    CHECK(install_headers("5.14.0-427.el9.x86_64+rt").redhat == "dnf install kernel-rt-devel-5.14.0-427.el9.x86_64");
    CHECK(install_headers("5.15.0-200.131.27.el8uek.x86_64").redhat ==
          "dnf install kernel-uek-devel-5.15.0-200.131.27.el8uek.x86_64");
    CHECK(install_debuginfo("4.18.0-553.el8_10.x86_64+debug").redhat ==
          "dnf install --enablerepo='*debug*' kernel-debug-debuginfo-4.18.0-553.el8_10.x86_64");
    CHECK(install_debuginfo("6.8.0-41-generic").debian == "apt-get install linux-image-6.8.0-41-generic-dbgsym");
    CHECK(install_headers("3.10.0-693.el7.x86_64").redhat == "yum install kernel-devel-3.10.0-693.el7.x86_64");
    CHECK(install_debuginfo("3.10.0-693.el7.x86_64").redhat == "debuginfo-install kernel-3.10.0-693.el7.x86_64");
    CHECK(install_headers("5.14.21-150400.24.63-default").suse ==
          "zypper install kernel-default-devel=5.14.21-150400.24.63");
    CHECK(install_debuginfo("5.14.21-150400.24.63-azure").suse ==
          "zypper install kernel-azure-debuginfo=5.14.21-150400.24.63");
}

TEST_CASE("what a build tree calls its release is one word of a command, whatever it is") {
    CHECK(install_headers("6.1; reboot").debian == "apt-get install 'linux-headers-6.1; reboot'");
    CHECK(install_compiler("gcc-14$(reboot)").debian == "apt-get install make 'gcc-14$(reboot)'");
}

TEST_CASE("a compiler's package is named without the architecture") {
    CHECK(install_compiler("x86_64-linux-gnu-gcc-14").debian == "apt-get install make gcc-14");
    CHECK(install_compiler("gcc-12").debian == "apt-get install make gcc-12");
    CHECK(install_compiler("gcc").redhat == "dnf install make gcc");
    CHECK(install_cross_compiler("aarch64-linux-gnu-gcc-14").debian == "apt-get install make gcc-14-aarch64-linux-gnu");
    CHECK(install_cross_compiler("aarch64-linux-gnu-gcc").redhat == "dnf install make gcc-aarch64-linux-gnu");
    CHECK(install_cross_compiler("aarch64-linux-gnu-gcc").suse == "zypper install make cross-aarch64-gcc");
    install_cross_compiler("");
}

TEST_CASE("headers of another architecture are unpacked, beside what of them runs here") {
    CHECK(unpack_headers("6.12.118+deb13-arm64", "aarch64").debian ==
          "dpkg --add-architecture arm64 && apt-get update && apt-get install linux-kbuild-6.12.118+deb13 "
          "linux-headers-6.12.118+deb13-common && apt-get download linux-headers-6.12.118+deb13-arm64:arm64 && "
          "dpkg -x linux-headers-6.12.118+deb13-arm64_*.deb /");
    CHECK(unpack_headers("5.14.0-427.el9.aarch64", "aarch64").redhat.find("kernel-devel-5.14.0-427.el9.aarch64") !=
          std::string::npos);
}

TEST_CASE("where the distribution is not known all commands are reported, and one that is the same everywhere once") {
    CHECK(command_here(install_stap(), Distribution::suse) == "zypper install systemtap");
    CHECK(command_here(install_stap(), Distribution::other) ==
          "on Debian or Ubuntu: apt-get install systemtap; on Fedora or RHEL: dnf install systemtap; on SUSE: zypper "
          "install systemtap");
    CHECK(command_here(everywhere("staprun -d stap_1"), Distribution::other) == "staprun -d stap_1");
    CHECK(Commands{}.empty());
    CHECK_FALSE(install_stap().empty());
}
