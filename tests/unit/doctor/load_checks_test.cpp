// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <algorithm>

#include "machine.h"

using namespace stapgen;
using namespace stapgen::doctor_test;
using doctor::State;

TEST_CASE("root may load modules, and so may members of both groups") {
    auto system = debian_13();
    CHECK(check(system, "privileges").state == State::ok);
    system.root = false;
    system.member_of = {"stapusr", "stapdev"};
    CHECK(check(system, "privileges").state == State::ok);
    for (const auto& groups : {std::set<std::string>{}, {"stapusr"}, {"stapdev"}, {"wheel"}}) {
        system.member_of = groups;
        const auto found = check(system, "privileges");
        CHECK(found.state == State::missing);
        CHECK(found.blocks == doctor::Blocks::loading);
        CHECK(remedy(found) ==
              "run it with sudo, or let root add you to the groups and log in again: usermod -aG stapusr,stapdev USER");
    }
}

TEST_CASE("root of a container is told what it lacks: the capability, or the host's user namespace") {
    auto system = debian_13();
    system.files["/proc/self/status"] = "Name:\tstapgen\nCapEff:\t00000000a80425fb\n";  // Docker's default
    CHECK(check(system, "privileges").state == State::missing);
    CHECK(check(system, "privileges").found.find("CAP_SYS_MODULE") != std::string::npos);
    system.files["/proc/self/status"] = "CapEff:\t0000000000010000\n";  // CAP_SYS_MODULE alone
    CHECK(check(system, "privileges").state == State::ok);
    system.files["/proc/self/uid_map"] = "         0     100000      65536\n";
    CHECK(check(system, "privileges").state == State::missing);
    CHECK(check(system, "privileges").found.find("user namespace") != std::string::npos);
    system.files.erase("/proc/self/uid_map");
    system.files.erase("/proc/self/status");
    CHECK(check(system, "privileges").state == State::ok);
}

TEST_CASE("a kernel without modules, and one that takes no more of them until the next boot") {
    auto system = debian_13();
    CHECK(check(system, "modules").state == State::ok);
    system.files["/proc/sys/kernel/modules_disabled"] = "1\n";
    CHECK(check(system, "modules").state == State::missing);
    CHECK(check(system, "modules").found ==
          "kernel.modules_disabled is 1: no module can be loaded until the next boot");
    system.files.erase("/proc/modules");
    CHECK(check(system, "modules").found == "the running kernel does not support modules (no /proc/modules)");
}

TEST_CASE("lockdown is read where securityfs shows it, and of the command line where that is not mounted") {
    auto system = debian_13();
    CHECK(check(system, "module-signing").state == State::ok);
    for (const std::string mode : {"integrity", "confidentiality"}) {
        system.files["/sys/kernel/security/lockdown"] =
            mode == "integrity" ? "none [integrity] confidentiality\n" : "none integrity [confidentiality]\n";
        const auto found = check(system, "module-signing");
        CHECK(found.state == State::missing);
        CHECK(found.found == "the kernel refuses unsigned modules: kernel lockdown is \"" + mode +
                                 "\" (/sys/kernel/security/lockdown)");
    }
    system.files["/sys/kernel/security/lockdown"] = "[none] integrity confidentiality\n";
    system.files["/proc/cmdline"] = "ro lockdown=integrity\n";
    CHECK(check(system, "module-signing").state == State::ok);
    system.files.erase("/sys/kernel/security/lockdown");
    CHECK(check(system, "module-signing").found ==
          "the kernel refuses unsigned modules: kernel lockdown is \"integrity\" (lockdown= in /proc/cmdline)");
    system.files["/proc/cmdline"] = "ro lockdown=integrity lockdown=none\n";
    CHECK(check(system, "module-signing").state == State::ok);
    system.files["/proc/cmdline"] = "ro nolockdown=integrity\n";
    CHECK(check(system, "module-signing").state == State::ok);
}

TEST_CASE("enforced signatures, with Secure Boot and without, and a module that has one") {
    auto system = debian_13();
    system.files["/sys/module/module/parameters/sig_enforce"] = "Y\n";
    CHECK(check(system, "module-signing").state == State::missing);
    CHECK(remedy(check(system, "module-signing")).ends_with("or boot without lockdown= and module.sig_enforce"));
    system.files["/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"] =
        std::string("\6\0\0\0\1", 5);
    const auto found = check(system, "module-signing");
    CHECK(found.found.ends_with(", Secure Boot is on"));
    CHECK(remedy(found).starts_with("sign: --sign mok.key,mok.pem"));
    CHECK(remedy(found).ends_with("or switch Secure Boot off: mokutil --disable-validation, and reboot"));
    auto asked = question(system);
    asked.is_signed = true;
    CHECK(check(doctor::examine(system, asked), "module-signing").state == State::note);
    system.files["/sys/module/module/parameters/sig_enforce"] = "N\n";
    CHECK(check(system, "module-signing").state == State::ok);
}

TEST_CASE(
    "whose signature the kernel takes is known from its rings of keys, and a signer it does not know is refused") {
    auto system = debian_13();
    system.files["/sys/module/module/parameters/sig_enforce"] = "Y\n";
    system.files["/proc/keys"] =
        "0a37b2f1 I------     2 perm 1f0b0000     0     0 keyring   .builtin_trusted_keys: 1\n"
        "1b37b2f1 I------     1 perm 1f0b0000     0     0 keyring   .machine: 1\n"
        "1c37b2f1 I------     1 perm 1f0b0000     0     0 keyring   .builtin_regdb_keys: 1\n"
        "2a37b2f1 I------     1 perm 1f030000     0     0 asymmetri Debian Secure Boot CA: 6ccece7e: X509.rsa bb419ea1 "
        "[]\n"
        "2b37b2f1 I------     1 perm 1f030000     0     0 asymmetri Acme: our key: 11223344: X509.rsa 11223344 []\n"
        "2c37b2f1 I------     1 perm 1f030000     0     0 asymmetri sforshee: 00b28ddf: X509.rsa b28ddf47 []\n"
        "2d37b2f1 I--Q---     1 perm 3f010000     0     0 user      a user's: 5\n\n";
    // They are root's.
    CHECK(check(system, "module-signing").found.ends_with("(/sys/module/module/parameters/sig_enforce)"));
    system.rings = {{0x0a37b2f1, {0x2a37b2f1}}, {0x1b37b2f1, {0x2b37b2f1, 0x77}}, {0x1c37b2f1, {0x2c37b2f1}}};
    CHECK(check(system, "module-signing").found.ends_with("; it has the keys of Acme: our key, Debian Secure Boot CA"));
    auto asked = question(system);
    asked.is_signed = true;
    const auto of = [&](std::string signer) {
        asked.signer = std::move(signer);
        return check(doctor::examine(system, asked), "module-signing");
    };
    CHECK(of("our key").state == State::ok);
    CHECK(of("Debian Secure Boot CA").state == State::ok);
    CHECK(of("").state == State::note);
    for (const auto* unknown : {"sforshee", "key", "a user's"}) {
        CHECK(of(unknown).state == State::missing);
        CHECK(of(unknown).blocks == doctor::Blocks::loading);
    }
    CHECK(of("somebody").found.ends_with("; this one is signed by 'somebody', whose key the kernel does not have"));
    CHECK(remedy(of("somebody")).starts_with("enrol it and reboot: mokutil --import CERT.der"));
}

TEST_CASE(
    "a module that is there is named with the kernel and the machine it is for, and which of these is another one") {
    const auto system = debian_13();
    CHECK(check(system, "module").found.empty());
    auto asked = question(system);
    const auto of = [&](std::string kernel, std::string architecture) {
        asked.module = {"rx.ko", "stap_1", "rx-latency", std::move(kernel), std::move(architecture)};
        return check(doctor::examine(system, asked), "module");
    };
    CHECK(of(release, "x86_64").state == State::ok);
    CHECK(of(release, "x86_64").found == "rx.ko (stap_1, rx-latency) is for kernel 6.12.117+deb13-amd64 on x86_64");
    const auto older = of("6.1.0-56-amd64", "x86_64"), foreign = of(release, "aarch64");
    CHECK(older.found.ends_with("is for kernel 6.1.0-56-amd64 on x86_64; 6.12.117+deb13-amd64 runs here"));
    CHECK(remedy(older) == "build one: stapgen build RECIPE -r 6.12.117+deb13-amd64 -o FILE.ko");
    CHECK(foreign.found.ends_with("on aarch64; this machine is x86_64"));
    for (const auto& wrong : {older, foreign}) {
        CHECK(wrong.state == State::missing);
        CHECK(wrong.blocks == doctor::Blocks::loading);
    }
}

TEST_CASE("of a module that is there the signer is said where the kernel asks for none, too") {
    auto system = debian_13();
    auto asked = question(system);
    asked.module = {"rx.ko", "stap_1", "", release, "x86_64"};
    const auto found = [&] { return check(doctor::examine(system, asked), "module-signing"); };
    CHECK(found().found == "modules need no signature; this one has none");
    asked.is_signed = true;
    CHECK(found().found == "modules need no signature; this one is signed");
    asked.signer = "our key";
    CHECK(found().found == "modules need no signature; this one is signed by 'our key'");
    system.files["/proc/keys"] =
        "0a37b2f1 I------     2 perm 1f0b0000     0     0 keyring   .builtin_trusted_keys: 1\n";
    system.rings = {{0x0a37b2f1, {}}};
    CHECK(found().found.ends_with("; this one is signed by 'our key', whose key the kernel does not have"));
    CHECK(found().state == State::ok);
}

TEST_CASE("staprun and debugfs, without which no module is started") {
    auto system = debian_13();
    system.programs.erase("/usr/bin/staprun");
    CHECK(check(system, "staprun").state == State::missing);
    CHECK(remedy(check(system, "staprun")) == "apt-get install systemtap-runtime");
    system.files["/usr/bin/staprun"] = "";
    CHECK(check(system, "staprun").state == State::missing);
    CHECK(check(system, "staprun").found == "this user may not run /usr/bin/staprun");
    CHECK(check(system, "debugfs").found == "mounted");
    system.files["/proc/self/mounts"] = "sysfs /sys sysfs rw 0 0\n";
    CHECK(check(system, "debugfs").state == State::ok);
    CHECK(check(system, "debugfs").found == "not mounted; staprun mounts it");
    system.files["/proc/filesystems"] = "nodev\tsysfs\nnodev\ttracefs\n";
    CHECK(check(system, "debugfs").state == State::missing);
}

TEST_CASE("ftrace that is off is said") {
    auto system = debian_13();
    const auto asked = question(system);
    const auto is_said = [&] {
        return std::ranges::any_of(doctor::examine(system, asked),
                                   [](const auto& each) { return each.id == "ftrace"; });
    };
    CHECK_FALSE(is_said());
    system.files["/proc/sys/kernel/ftrace_enabled"] = "1\n";
    CHECK_FALSE(is_said());
    system.files["/proc/sys/kernel/ftrace_enabled"] = "0\n";
    CHECK(check(system, "ftrace").state == State::note);
    CHECK(remedy(check(system, "ftrace")).starts_with("switch it on: sysctl kernel.ftrace_enabled=1; "));
}

TEST_CASE("drop reasons have names in BTF or in tracefs") {
    auto system = debian_13();
    CHECK(check(system, "tracefs").state == State::note);
    CHECK(remedy(check(system, "tracefs")) == "mount -t tracefs tracefs /sys/kernel/tracing");
    system.files["/sys/kernel/tracing/events/skb/kfree_skb/format"] = "";
    CHECK(check(system, "tracefs").state == State::ok);
    system.files.erase("/sys/kernel/tracing/events/skb/kfree_skb/format");
    system.files["/sys/kernel/btf/vmlinux"] = "";
    CHECK(check(system, "tracefs").state == State::ok);
}

TEST_CASE("what runs of the past have left behind is named, and what goes on is not") {
    auto system = debian_13();
    CHECK(check(system, "leftovers").state == State::ok);
    system.files["/proc/modules"] =
        "stap_1cc70b06271477_1234 421888 2 - Live 0x0000000000000000 (OE)\n"
        "stap_b109f817bec889_77 421888 0 - Live 0x0000000000000000 (OE)\nstapler 1 0 - Live 0x0\n";
    const auto found = check(system, "leftovers");
    CHECK(found.state == State::note);
    CHECK(found.found == "modules of earlier runs are still loaded: stap_b109f817bec889_77");
    CHECK(remedy(found) == "remove each of them: staprun -d stap_b109f817bec889_77");
}

TEST_CASE("where interrupts' handlers are threads it is said of the recipes that lose something") {
    auto system = debian_13();
    auto asked = question(system);
    const auto finds = [&] {
        for (const auto& each : doctor::examine(system, asked))
            if (each.id == "interrupt-threads") return each.found;
        return std::string();
    };
    system.files["/proc/cmdline"] = "ro threadirqs quiet\n";
    CHECK(finds().empty());
    asked.subjects[0].name = "irq-latency";
    asked.subjects[0].kernels.push_back({"threads", "run", "most", {"threaded-interrupts"}});
    CHECK(finds() == "irq-latency: interrupt handlers are threads here (threadirqs). Lost: most");
    system.files["/proc/cmdline"] = "ro threadirqs=0\n";
    CHECK(finds().empty());
    system.files["/sys/kernel/realtime"] = "1\n";
    CHECK(finds() == "irq-latency: interrupt handlers are threads here (PREEMPT_RT). Lost: most");
}
