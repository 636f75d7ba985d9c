// SPDX-License-Identifier: GPL-2.0-or-later
#include "module/kept_modules.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::module {

namespace {

namespace fs = std::filesystem;

/// Path, size and time of a file or folder, links followed.
std::string identity(const fs::path& path) {
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    if (error) return fmt::format("{} does not exist\n", path.string());
    const auto size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
    return fmt::format("{} {} {}\n", path.string(), size, time.time_since_epoch().count());
}

/// The files that decide what stap makes, besides its command; get_base_hash of its hash.cxx has most of them.
std::vector<fs::path> inputs_of(const host::System& machine, const launch::CompileJob& job) {
    const auto& target = job.target;
    const auto& runtime = job.options.runtime.empty() ? target.runtime : job.options.runtime;
    std::vector<fs::path> files{target.stap, runtime, target.symbol_table.path, target.debuginfo,
                                job.cache / "systemtap/rc"};
    for (const auto* name : {"transport", "unwind", "linux"})
        files.push_back(runtime / name);
    for (const auto* name : {"tapset", "tapset/linux"})
        files.push_back(target.runtime.parent_path() / name);
    for (const auto* name :
         {".config", ".kernelvariables", "Makefile", "Module.symvers", "System.map", "include/config/kernel.release",
          "include/generated/compile.h", "include/generated/utsrelease.h", "include/generated/utsversion.h"}) {
        files.push_back(target.build / name);
    }
    for (const auto* name : {"include/linux", "include/net", "include/trace/events"})
        files.push_back(target.source / name);
    for (const auto& mount : job.mounts)
        files.push_back(mount.source);
    for (const auto* name : {"gcc", "make", "ld"})
        files.push_back(machine.find_program(name).value_or(name));
    return files;
}

std::string what_decides(const host::System& machine, const launch::CompileJob& job, std::string_view script) {
    auto named = job;
    named.options.script = job.options.script.filename();
    // stap makes the same for the running kernel with -r and without.
    if (named.target.release_option.empty()) named.target.release_option = named.target.release;
    std::string all = fmt::format("user {}\n", ::geteuid());
    for (const auto& word : launch::compile_command(named).argv)
        all += word + '\n';
    for (const auto& mount : job.mounts)
        all += fmt::format("{} at {}\n", mount.source.string(), mount.target.string());
    for (const auto& file : inputs_of(machine, job))
        all += identity(file);
    for (const auto& folder : job.options.tapsets) {
        for (const auto& name : machine.list(folder)) {
            const auto text = machine.read(folder / name);
            if (text) all += fmt::format("{} {}\n{}", (folder / name).string(), text->size(), *text);
        }
    }
    return all.append(script);
}

}  // namespace

KeptModules::KeptModules(const host::System& machine, const launch::CompileJob& job, std::string_view script) {
    const auto& options = job.options;
    if (!options.stap_options.empty() || options.all_modules || !options.modules.empty()) return;
    all_ = job.cache / "modules";
    folder_ = all_ / base::sha256(what_decides(machine, job, script));
}

std::optional<fs::path> KeptModules::find() const {
    if (folder_.empty()) return std::nullopt;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
        if (entry.path().extension() != ".ko") continue;
        if (::geteuid() == 0 && !base::only_root_writes(entry.path())) return std::nullopt;
        return entry.path();
    }
    return std::nullopt;
}

void KeptModules::use() const {
    std::error_code ignored;
    fs::last_write_time(folder_, fs::file_time_type::clock::now(), ignored);
}

void KeptModules::keep(const fs::path& module) const {
    constexpr std::size_t max_kept = 64;
    if (folder_.empty()) return;
    const auto content = base::read_file(module);
    if (!content) return;
    std::error_code error;
    fs::create_directories(folder_, error);
    if (!base::replace_file(folder_ / module.filename(), *content)) fs::remove_all(folder_, error);

    std::vector<std::pair<fs::file_time_type, fs::path>> kept;
    for (const auto& entry : fs::directory_iterator(all_, error))
        kept.emplace_back(entry.last_write_time(error), entry.path());
    std::sort(kept.begin(), kept.end(), std::greater<>());
    for (std::size_t i = max_kept; i < kept.size(); ++i)
        fs::remove_all(kept[i].second, error);
}

}  // namespace stapgen::module
