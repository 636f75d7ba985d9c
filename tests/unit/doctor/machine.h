// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "doctor/doctor.h"
#include "fakes/system/fake_system.h"

namespace stapgen::doctor_test {

constexpr auto release = "6.12.117+deb13-amd64";

/// Debian 13 as it is with SystemTap, headers and compiler installed: the files' texts are cut from real ones.
inline host::FakeSystem debian_13() {
    host::FakeSystem system;
    system.release = release;
    system.programs = {{"stap", "/usr/bin/stap"},
                       {"/usr/bin/staprun", "/usr/bin/staprun"},
                       {"make", "/usr/bin/make"},
                       {"x86_64-linux-gnu-gcc-14", "/usr/bin/x86_64-linux-gnu-gcc-14"}};
    system.output[{"/usr/bin/stap", "--version"}] =
        "Systemtap translator/driver (version 5.1/0.192, Debian version 5.1-5)\n"
        "tested kernel versions: 2.6.32 ... 6.9-rc0\n";
    const std::string build = "/lib/modules/6.12.117+deb13-amd64/build";
    system.files = {
        {"/etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nID=debian\n"},
        {build + "/.config", "#\nCONFIG_MODULES=y\n"},
        {build + "/.kernelvariables", "CC = $(CROSS_COMPILE)gcc-14\n"},
        {build + "/Makefile", "include /usr/src/linux-headers-6.12.117+deb13-common/Makefile\n"},
        {"/boot/config-6.12.117+deb13-amd64",
         "#\n# Automatically generated file; DO NOT EDIT.\n#\n"
         "CONFIG_CC_VERSION_TEXT=\"x86_64-linux-gnu-gcc-14 (Debian 14.2.0-19) 14.2.0\"\n"
         "CONFIG_RELAY=y\nCONFIG_KALLSYMS=y\nCONFIG_TRACEPOINTS=y\nCONFIG_KPROBES=y\nCONFIG_MODULES=y\n"
         "# CONFIG_MODULE_FORCE_LOAD is not set\nCONFIG_MODULE_UNLOAD=y\nCONFIG_DEBUG_FS=y\n"},
        {"/boot/System.map-6.12.117+deb13-amd64",
         "ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n"},
        {"/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/vda ro quiet\n"},
        {"/proc/filesystems", "nodev\tsysfs\nnodev\tdebugfs\nnodev\ttracefs\n\text4\n"},
        {"/proc/kallsyms", "0000000000000000 T register_kprobe\n"},
        {"/proc/meminfo",
         "MemTotal:        2017340 kB\nMemFree:         1500160 kB\nMemAvailable:    1700000 kB\n"
         "Buffers:           10240 kB\n"},
        {"/proc/modules", "virtio_net 69632 0 - Live 0x0000000000000000\n"},
        {"/proc/self/mounts", "sysfs /sys sysfs rw 0 0\ndebugfs /sys/kernel/debug debugfs rw,relatime 0 0\n"},
        {"/proc/self/status", "Name:\tstapgen\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n"},
        {"/proc/self/uid_map", "         0          0 4294967295\n"},
        {"/proc/sys/kernel/modules_disabled", "0\n"},
        {"/sys/devices/system/cpu/online", "0-1\n"},
        {"/sys/kernel/security/lockdown", "[none] integrity confidentiality\n"},
        {"/sys/module/module/parameters/sig_enforce", "N\n"},
    };
    system.space = 5'000'000'000;
    return system;
}

inline doctor::Question question(const host::FakeSystem& system, const host::TargetRequest& request = {}) {
    doctor::Question asked;
    asked.target = host::inspect(system, request);
    asked.subjects = {{.name = "rx-latency", .kernels = {{"6.12, 7.2", "run", "", {"6.12", "7.2"}}}}};
    asked.to_load = asked.target.running;
    asked.cache = "/root/.cache/stapgen";
    return asked;
}

inline host::Workaround workaround(std::string id, std::string why) {
    host::Workaround made;
    made.id = std::move(id);
    made.why = std::move(why);
    return made;
}

/// The check of this name; an ok one without text if there is none.
inline doctor::Check check(const std::vector<doctor::Check>& checks, std::string_view id) {
    const auto found =
        std::find_if(checks.begin(), checks.end(), [&](const doctor::Check& each) { return each.id == id; });
    return found == checks.end() ? doctor::Check{} : *found;
}

inline doctor::Check check(const host::FakeSystem& system, std::string_view id,
                           const host::TargetRequest& request = {}) {
    return check(doctor::examine(system, question(system, request)), id);
}

/// What to do about it in Debian's words.
inline std::string remedy(const doctor::Check& check, host::Distribution distribution = host::Distribution::debian) {
    return doctor::remedy_text(check.remedy, distribution);
}

}  // namespace stapgen::doctor_test
