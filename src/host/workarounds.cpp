// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/workarounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/files.h"
#include "base/text.h"
#include "base/toml_table.h"

namespace stapgen::host {

namespace fs = std::filesystem;

namespace {

Evidence read_evidence(base::TomlTable& table) {
    Evidence evidence{table.text("file"), table.text_or("contains"), table.text_or("lacks")};
    table.refuse_the_rest();
    const auto& file = evidence.file;
    if (!file.starts_with("{runtime}/") && !file.starts_with("{build}/") && !file.starts_with("{source}/")) {
        table.wrong("file", "'file' must begin with {runtime}/, {build}/ or {source}/");
    }
    if (evidence.contains.empty() && evidence.lacks.empty()) {
        table.wrong({}, "evidence needs 'contains' or 'lacks'");
    }
    return evidence;
}

RuntimePatch read_patch(base::TomlTable& table) {
    RuntimePatch patch{table.text("file"), table.text("replace"), table.text("with")};
    table.refuse_the_rest();
    const auto file = fs::path(patch.file).lexically_normal();
    if (file.is_absolute() || file.string().starts_with("..")) {
        table.wrong("file", "'file' of a patch must lie inside the runtime folder");
    }
    if (patch.replace.empty()) table.wrong("replace", "'replace' must not be empty");
    return patch;
}

Workaround read_workaround(base::TomlTable& table) {
    Workaround workaround{
        .id = table.text("id"),
        .why = table.text("why"),
        .stap_before = {},
        .when = {},
        .kbuild = {},
        .patches = {},
        .instead = table.text_or("instead"),
        .mended_in = table.text_or("mended_in"),
        .only_in = table.texts("only_in"),
    };
    if (const auto before = table.text_or("stap_before"); !before.empty()) {
        workaround.stap_before = parse_version_number(before);
        if (!workaround.stap_before) table.wrong("stap_before", "'stap_before' must be like \"5.2\"");
    }
    for (auto& item : table.tables("when"))
        workaround.when.push_back(read_evidence(item));
    for (auto& item : table.tables("patch"))
        workaround.patches.push_back(read_patch(item));
    if (auto kbuild = table.table("kbuild")) {
        for (const auto& key : kbuild->keys())
            workaround.kbuild[key] = kbuild->text(key);
    }
    table.refuse_the_rest();
    if (workaround.when.empty() && workaround.patches.empty() && !(workaround.is_fault() && workaround.stap_before))
        table.wrong({}, "a workaround needs evidence: [[workaround.when]]");
    if (workaround.heals() + !workaround.instead.empty() + workaround.is_fault() != 1)
        table.wrong({}, "a workaround has one of these: 'kbuild' or 'patch'; 'instead'; 'mended_in' alone");
    if (!workaround.only_in.empty() && !workaround.is_fault())
        table.wrong("only_in", "'only_in' goes with 'mended_in' alone");
    return workaround;
}

bool is_there(const Evidence& evidence, const System& system, const Target& target) {
    const auto end = evidence.file.find('}');
    const auto root = evidence.file.substr(1, end - 1);
    const auto& folder = root == "runtime" ? target.runtime : root == "build" ? target.build : target.source;
    if (folder.empty()) return false;
    const auto content = system.read(folder / evidence.file.substr(end + 2));
    return content && (evidence.contains.empty() || content->find(evidence.contains) != std::string::npos) &&
           (evidence.lacks.empty() || content->find(evidence.lacks) == std::string::npos);
}

/// The files of a patched copy.
std::string signature(const fs::path& runtime, std::string_view version, const std::vector<RuntimePatch>& patches) {
    std::string text = runtime.string();
    const auto add = [&text](std::string_view part) { (text += '\0') += part; };
    add(version);
    for (const auto& patch : patches) {
        // An upgrade within one version (5.1-4 to 5.1-5) changes the original, and so must the copy.
        std::error_code error;
        const auto time = fs::last_write_time(runtime / patch.file, error).time_since_epoch().count();
        add(patch.file);
        add(patch.replace);
        add(patch.with);
        add(std::to_string(time));
    }
    return text;
}

/// The original's times, for files and folders: stap hashes the times of what it finds in them.
base::Result<void> keep_times(const fs::path& from, const fs::path& to) {
    std::error_code error;
    const auto copy_time = [&](const fs::path& original, const fs::path& copy) {
        const auto time = fs::last_write_time(original, error);
        if (!error) fs::last_write_time(copy, time, error);
    };
    for (fs::recursive_directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error)) {
        const auto copy = to / fs::relative(entry->path(), from, error);
        if (!error) copy_time(entry->path(), copy);
        if (error) break;
    }
    if (!error) copy_time(from, to);
    if (error) return base::failed(fmt::format("cannot copy the times of {}: {}", from.string(), error.message()));
    return {};
}

base::Result<void> patch_file(const fs::path& folder, const RuntimePatch& patch) {
    const auto file = folder / patch.file;
    STAPGEN_LET(auto content, base::read_file(file));
    std::size_t count = 0;
    for (auto at = content.find(patch.replace); at != std::string::npos;
         at = content.find(patch.replace, at + patch.with.size())) {
        content.replace(at, patch.replace.size(), patch.with);
        ++count;
    }
    if (count == 0) {
        return base::failed(
            fmt::format("the workaround does not fit this SystemTap: '{}' is not in {}", patch.replace, patch.file),
            "switch the workaround off and see whether this SystemTap works without it, or upgrade SystemTap");
    }
    return base::replace_file(file, content);
}

base::Result<void> copy_runtime(const fs::path& runtime, const fs::path& to) {
    std::error_code error;
    fs::copy(runtime, to, fs::copy_options::recursive, error);
    if (!error) return {};
    const auto what = fmt::format("cannot copy {} to {}: {}", runtime.string(), to.string(), error.message());
    if (error == std::errc::no_space_on_device)
        return base::cannot_here(what, fmt::format("make room in {}, or name another folder with $XDG_CACHE_HOME",
                                                   to.parent_path().string()));
    return base::failed(what, "the folder can be moved with $XDG_CACHE_HOME");
}

/// A copy of stap's runtime folder with the patches in it, in `cache`. Times are the originals', because stap's cache
/// goes by them.
base::Result<fs::path> patched_runtime(const fs::path& runtime, std::string_view stap_version,
                                       const std::vector<RuntimePatch>& patches, const fs::path& cache, Making making) {
    auto place = base::cache_entry(cache, "runtime", signature(runtime, stap_version, patches));
    if (making == Making::planned) return place;
    const auto fill = [&](const fs::path& fresh) {
        auto filled = copy_runtime(runtime, fresh);
        for (auto patch = patches.begin(); filled && patch != patches.end(); ++patch)
            filled = patch_file(fresh, *patch);
        return filled ? keep_times(runtime, fresh) : filled;
    };
    return base::make_cache_entry(place, fill).map([&] { return std::move(place); });
}

}  // namespace

base::Result<std::vector<Workaround>> parse_workarounds(std::string_view text, std::string_view name) {
    std::vector<Workaround> workarounds;
    const auto read = [&](base::TomlTable& document) {
        for (auto& table : document.tables("workaround")) {
            auto workaround = read_workaround(table);
            if (std::ranges::count(workarounds, workaround.id, &Workaround::id) > 0) {
                table.wrong("id", "this id is there twice");
            }
            workarounds.push_back(std::move(workaround));
        }
        document.refuse_the_rest();
    };
    const base::TomlFile file{text, name, "workarounds.toml",
                              "see the comment at the top of the workarounds.toml that came with stapgen",
                              "this is not valid TOML"};
    return base::read_toml(file, read).map([&] { return workarounds; });
}

base::Result<std::vector<Workaround>> load_workarounds(const std::filesystem::path& file) {
    return base::read_file(file).and_then(
        [&](const std::string& text) { return parse_workarounds(text, file.string()); });
}

std::vector<Workaround> needed_workarounds(const std::vector<Workaround>& workarounds, const System& system,
                                           const Target& target) {
    std::vector<Workaround> needed;
    for (const auto& workaround : workarounds) {
        if (workaround.stap_before && !(target.stap_version && *target.stap_version < *workaround.stap_before))
            continue;
        const auto is_met = [&](const Evidence& evidence) { return is_there(evidence, system, target); };
        const auto fits = [&](const RuntimePatch& patch) {
            return is_met({"{runtime}/" + patch.file, patch.replace, {}});
        };
        if (std::ranges::all_of(workaround.when, is_met) && std::ranges::all_of(workaround.patches, fits))
            needed.push_back(workaround);
    }
    return needed;
}

std::vector<std::string> faults_met(const std::vector<Workaround>& needed, std::string_view script) {
    // "process(" is not in "of_process(".
    const auto has = [script](const std::string& word) {
        for (auto at = script.find(word); at != std::string_view::npos; at = script.find(word, at + 1)) {
            if (at == 0 || !(std::isalnum(static_cast<unsigned char>(script[at - 1])) || script[at - 1] == '_'))
                return true;
        }
        return false;
    };
    std::vector<std::string> warnings;
    for (const auto& fault : needed) {
        const auto word = std::ranges::find_if(fault.only_in, has);
        if (!fault.is_fault() || (word == fault.only_in.end() && !fault.only_in.empty())) continue;
        const auto where = fault.only_in.empty() ? "" : fmt::format(" (the script has '{}')", base::trim(*word));
        warnings.push_back(
            fmt::format("warning: {}: {}{}; fixed in SystemTap {}", fault.id, fault.why, where, fault.mended_in));
    }
    return warnings;
}

base::Result<AppliedWorkarounds> apply_workarounds(const std::vector<Workaround>& needed,
                                                   const WorkaroundChoice& choice, const Target& target,
                                                   const std::filesystem::path& cache, Making making) {
    AppliedWorkarounds applied;
    std::vector<RuntimePatch> patches;
    std::vector<std::string_view> faults;
    for (const auto& workaround : needed) {
        if (workaround.is_fault() || choice.leaves_out(workaround.id)) continue;
        if (!workaround.instead.empty()) return base::cannot_here(workaround.why, workaround.instead);
        for (const auto& [key, value] : workaround.kbuild) {
            auto& flags = applied.kbuild[key];
            flags += (flags.empty() ? "" : " ") + value;
        }
        patches.insert(patches.end(), workaround.patches.begin(), workaround.patches.end());
        applied.ids.push_back(workaround.id);
        if (workaround.mended_in.empty()) {
            applied.lines.push_back(fmt::format("workaround: {}: {}", workaround.id, workaround.why));
        } else {
            faults.push_back(workaround.id);
        }
    }
    if (!faults.empty()) {
        applied.lines.push_back(
            fmt::format("workaround: {}: faults of this SystemTap that can harm the host; a private, "
                        "patched copy of its runtime is used",
                        fmt::join(faults, ", ")));
    }
    if (!patches.empty()) {
        const auto version = target.stap_version ? target.stap_version->text : "";
        STAPGEN_LET(auto copy, patched_runtime(target.runtime, version, patches, cache, making));
        applied.runtime = copy;
    }
    return applied;
}

}  // namespace stapgen::host
