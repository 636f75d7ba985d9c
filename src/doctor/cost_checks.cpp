// SPDX-License-Identifier: GPL-2.0-or-later
// What lets a recipe run and costs time, memory or certainty.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/checks.h"
#include "host/facts.h"

namespace stapgen::doctor {

namespace {

/// How many CPUs "0-3,8" are.
std::uint64_t cpus_in(std::string_view list) {
    std::uint64_t cpus = 0;
    for (const auto part : base::split(base::trim(list), ',')) {
        const auto dash = std::min(part.find('-'), part.size());
        const auto first = base::to_unsigned(part.substr(0, dash));
        const auto last = dash < part.size() ? base::to_unsigned(part.substr(dash + 1)) : first;
        constexpr std::uint64_t max_cpu = 1'000'000;
        if (first && last && *first <= *last && *last < max_cpu) cpus += *last - *first + 1;
    }
    return cpus;
}

}  // namespace

Check kernel(const host::System& /*system*/, const Question& question) {
    const auto& release = question.target.release;
    std::size_t asked = 0, run = 0, resolved = 0;
    std::string lost;
    for (const auto& subject : question.subjects) {
        asked += subject.kernels.empty() ? 0 : 1;
        const auto* range = recipe::range_of(subject.kernels, release, question.target.architecture);
        if (range == nullptr) continue;
        ++(range->state == "run" ? run : resolved);
        if (!range->lost.empty()) lost += fmt::format("; {}: {}", subject.name, range->lost);
    }
    if (asked == 0) return note(release + ": the recipe does not say on which versions it was tested");
    if (run + resolved < asked) {
        return note(release + ": stapgen was not tried on this version",
                    {"continue; stapgen show RECIPE lists the known versions"});
    }
    if (!lost.empty()) return note(release + ": some parts are missing on this version" + lost);
    if (resolved > 0) return note(release + ": probes resolve on this version, but were not run");
    return ok(release + ": tested with known traffic on this version");
}

Check memory(const host::System& system, const Question& /*question*/) {
    // The default of SystemTap's runtime, and the two that it adds up (runtime/transport/transport.c).
    constexpr std::uint64_t buffer_mb = 16;
    const auto cpus = std::max<std::uint64_t>(cpus_in(short_text(system, "/sys/devices/system/cpu/online")), 1);
    if (!system.exists("/proc/meminfo")) return ok("not known");
    const auto free = static_cast<std::uint64_t>(host::memory_mib(system, "MemFree").value_or(0) +
                                                 host::memory_mib(system, "Buffers").value_or(0));
    const auto found = fmt::format("{} MB of buffers per CPU ({}), {} MB are free", buffer_mb, cpus, free);
    if (buffer_mb * cpus <= free / 4) return ok(found);
    return note(found + ": SystemTap will shrink them, and records may be lost",
                {"free memory, or ask for less: -s 4MiB"});
}

Check disk(const host::System& system, const Question& question) {
    // One kernel's header queries take 110 MB of the cache, and stap's working folder about as much.
    constexpr std::uint64_t enough_mb = 300;
    std::string found;
    bool little = false;
    std::error_code none;  // a machine without /tmp
    for (const auto& folder : {question.cache, std::filesystem::temp_directory_path(none)}) {
        const auto space = system.free_space(folder);
        if (!space) continue;
        const auto free_mb = *space / 1'000'000;
        little = little || free_mb < enough_mb;
        found += fmt::format("{}{} MB for {}", found.empty() ? "free: " : ", ", free_mb, folder.string());
    }
    if (!little) return ok(found.empty() ? "not known" : found);
    return note(fmt::format("{}; stap may need {} MB", found, enough_mb),
                {"free some space, or set XDG_CACHE_HOME and TMPDIR to other folders"});
}

Check first_run(const host::System& system, const Question& question) {
    const auto& target = question.target;
    const auto version = target.stap_version ? target.stap_version->text : "";
    const auto folder = question.cache / "systemtap/cache";
    for (const auto& bucket : system.list(folder)) {
        for (const auto& name : system.list(folder / bucket)) {
            constexpr std::string_view end = "_hash.log";
            if (!name.starts_with("tracequery_") || !name.ends_with(end)) continue;
            const auto object = name.substr(0, name.size() - end.size()) + ".o";
            if (!system.exists(folder / bucket / object)) continue;
            const auto log = system.read(folder / bucket / name, 4096).value_or("");
            if (log.find(fmt::format("\nKernel Release: {}\n", target.release)) != std::string::npos &&
                log.find(fmt::format("Systemtap version: {}\n", version)) != std::string::npos) {
                return ok("stap's queries of this kernel's headers are cached");
            }
        }
    }
    const bool all_headers = question.choice.leaves_out("trace-headers") || !host::may_mount(system);
    return note(
        fmt::format("the first run on this kernel takes {} longer: stap queries {} tracepoint headers once",
                    all_headers ? "minutes" : "about half a minute", all_headers ? "all" : "the kernel and a few"),
        {"to do that now: stapgen doctor --warm"});
}

Check lab(const host::System& system) {
    std::vector<std::string> absent{"qemu-system-x86_64", "debootstrap", "mke2fs", "python3"};
    std::erase_if(absent, [&](const std::string& program) { return system.find_program(program).has_value(); });
    auto check =
        absent.empty()
            ? ok("can make virtual machines for ./run-demo and ./run-tests")
            : note(fmt::format("only for the virtual machines of ./run-demo and ./run-tests; not installed: {}",
                               fmt::join(absent, ", ")),
                   {{}, host::install_lab(), {}});
    check.id = "lab";
    return check;
}

}  // namespace stapgen::doctor
