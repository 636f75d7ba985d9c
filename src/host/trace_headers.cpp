// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <array>

#include "base/files.h"
#include "base/text.h"
#include "host/facts.h"
#include "host/workarounds.h"

namespace stapgen::host {

namespace fs = std::filesystem;

namespace {

/// A folder of the kernel's tree in which stap looks for tracepoints (init_dw in its tapsets.cxx), as #include names
/// it.
struct Folder {
    std::string_view in_tree, included_as;
};
constexpr std::array<Folder, 3> folders{
    {{"include/trace", "trace"}, {"include/ras", "ras"}, {"arch/x86/include/asm/trace", "asm/trace"}}};

/// Those of the folder that define one of `tracepoints`, with their names in it; what is found is put into `found`.
std::vector<std::string> headers_in(const System& system, const fs::path& folder,
                                    const std::set<std::string>& tracepoints, std::set<std::string>& found,
                                    std::size_t& all) {
    std::vector<std::string> chosen;
    const auto look = [&](const std::string& name) {
        if (!name.ends_with(".h")) return;
        const auto text = system.read(folder / name);
        if (!text) return;
        ++all;
        bool wanted = false;
        for (const auto& tracepoint : tracepoints) {
            if (!may_define(*text, tracepoint)) continue;
            found.insert(tracepoint);
            wanted = true;
        }
        if (wanted) chosen.push_back(name);
    };
    for (const auto& name : system.list(folder))
        look(name);
    for (const auto& name : system.list(folder / "events"))
        look("events/" + name);
    return chosen;
}

base::Error cannot_make(const fs::path& path, const std::error_code& error) {
    return {base::ErrorKind::failed, fmt::format("cannot make {}: {}", path.string(), error.message()),
            "the folder can be moved with $XDG_CACHE_HOME; --no-workaround trace-headers does without it"};
}

/// stap's view of one folder of the kernel's.
struct Shown {
    fs::path real, point;
    std::vector<std::string> headers;
};

base::Result<void> make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    return error ? tl::make_unexpected(cannot_make(folder, error)) : base::Result<void>();
}

/// The mount point of one folder in `subset`, and in it links to its headers in `everything`.
base::Result<void> make_links(const Shown& shown, const fs::path& everything, const fs::path& subset) {
    if (auto made = make_folder(subset / shown.point); !made) return made;
    for (const auto& name : shown.headers) {
        const auto link = subset / shown.point / name;
        if (auto made = make_folder(link.parent_path()); !made) return made;
        std::error_code error;
        fs::create_symlink(everything / shown.point / name, link, error);
        if (error) return tl::make_unexpected(cannot_make(link, error));
    }
    return {};
}

}  // namespace

bool may_define(std::string_view header, std::string_view tracepoint) {
    for (auto at = header.find(tracepoint); at != std::string_view::npos; at = header.find(tracepoint, at + 1)) {
        const auto end = at + tracepoint.size();
        if (at == 0 || base::is_word_character(header[at - 1]) || end == header.size() ||
            base::is_word_character(header[end]))
            continue;
        constexpr std::string_view blanks = " \t\n\\";
        const auto before = header.find_last_not_of(blanks, at - 1);
        const auto after = header.find_first_not_of(blanks, end);
        if (before == std::string_view::npos || after == std::string_view::npos) continue;
        if ((header[before] == '(' || header[before] == ',') && header[after] == ',') return true;
    }
    return false;
}

base::Result<std::optional<ProcessWorkaround>> provide_trace_headers(const System& system, const Target& target,
                                                                     const std::set<std::string>& tracepoints,
                                                                     const fs::path& cache, Making making) {
    constexpr auto* fit = "-/._+0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const auto place = cache / "trace-headers";
    if (!may_mount(system) || place.string().find_first_not_of(fit) != std::string::npos) return std::nullopt;

    // The mount points through which the compiler finds everything. What stap is shown are links into them, so that
    // they have the times and sizes of the kernel's own headers, by which stap keeps its answers.
    const auto everything = place / "all";
    std::vector<Shown> shown;
    std::set<std::string> found;
    std::string names;
    std::size_t all = 0, chosen = 0;
    for (const auto& folder : folders) {
        const auto real = target.source / folder.in_tree;
        if (system.list(real).empty()) continue;
        shown.push_back({real, folder.included_as, headers_in(system, real, tracepoints, found, all)});
        chosen += shown.back().headers.size();
        names += shown.back().point.string() + '\n';
        for (const auto& name : shown.back().headers)
            names += (shown.back().point / name).string() + '\n';
    }
    if (shown.empty() || found.size() < tracepoints.size()) return std::nullopt;

    const auto subset = base::cache_entry(place, "shown", names);
    const auto fill = [&](const fs::path& fresh) -> base::Result<void> {
        for (const auto& each : shown) {
            if (auto made = make_links(each, everything, fresh); !made) return made;
        }
        return {};
    };
    if (making == Making::now) {
        STAPGEN_TRY(base::make_cache_entry(subset, fill));
        for (const auto& each : shown) {
            STAPGEN_TRY(make_folder(everything / each.point));
        }
    }
    ProcessWorkaround workaround;
    for (const auto& each : shown)
        workaround.mounts.push_back({each.real, everything / each.point, true});
    for (const auto& each : shown)
        workaround.mounts.push_back({subset / each.point, each.real, true});
    workaround.flags = "-I" + everything.string();
    workaround.line = fmt::format(
        "workaround: trace-headers: stap sees {} of this kernel's {} headers of tracepoints, those that are needed; it "
        "would compile all",
        chosen, all);
    return workaround;
}

}  // namespace stapgen::host
