// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "doctor/doctor.h"
#include "fakes/system/fake_system.h"
#include "fuzz.h"

using namespace stapgen;

namespace {

bool is_printable(const std::string& text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

/// What the doctor reads of the machine, each file as if it were the input: a container or a build tree can have
/// anything in them.
FUZZ_TARGET(doctor_texts) {
    const auto text = fuzz::text_of(data, size);
    host::FakeSystem system;
    system.programs = {{"stap", "/stap"}};
    system.output[{"/stap", "--version"}] = "(version 5.1/0.192)\n" + std::string(text);
    for (const auto* file : {"/etc/os-release",
                             "/proc/cmdline",
                             "/proc/config.gz",
                             "/proc/filesystems",
                             "/proc/kallsyms",
                             "/proc/meminfo",
                             "/proc/modules",
                             "/proc/self/mounts",
                             "/proc/self/status",
                             "/proc/self/uid_map",
                             "/proc/sys/kernel/modules_disabled",
                             "/sys/devices/system/cpu/online",
                             "/sys/kernel/security/lockdown",
                             "/sys/module/module/parameters/sig_enforce",
                             "/tree/.config",
                             "/tree/.kernelvariables",
                             "/tree/Makefile",
                             "/tree/include/config/kernel.release",
                             "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
                             "/cache/systemtap/cache/a/tracequery_1_hash.log",
                             "/cache/systemtap/cache/a/tracequery_1.o"}) {
        system.files[file] = text;
    }
    doctor::Question question;
    for (const auto* release : {"", "/tree"}) {
        question.target = host::inspect(system, {.release = release});
        question.cache = "/cache";
        question.subjects = {{.name = "one", .kernels = {{"all", "run", "", {"6.1", "el8"}}}}, {.name = "two"}};
        const auto checks = doctor::examine(system, question);
        std::set<std::string> ids;
        for (const auto& check : checks) {
            fuzz::always(ids.insert(check.id).second);
            fuzz::always(!check.found.empty() && is_printable(check.found));
            fuzz::always((check.state == doctor::State::missing) == (check.blocks != doctor::Blocks::nothing));
            const auto remedy = doctor::remedy_text(check.remedy, question.target.distribution);
            fuzz::always(is_printable(remedy) && (check.state != doctor::State::missing || !remedy.empty()));
        }
        const auto verdict = doctor::conclude(checks, question);
        fuzz::always(verdict.able.size() + verdict.unable.size() == 2);
        fuzz::always(!verdict.what.empty() && !verdict.first.empty());
        fuzz::always(doctor::most_urgent_first(checks).size() == checks.size());
    }
    return 0;
}
