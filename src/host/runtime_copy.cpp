#include "host/runtime_copy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>

#include "base/files.h"

namespace stapgen::host {

namespace fs = std::filesystem;

namespace {

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
    return fmt::format("{:016x}", std::hash<std::string>{}(text));
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
    auto content = base::read_file(file);
    if (!content) return tl::make_unexpected(content.error());
    std::size_t count = 0;
    for (auto at = content->find(patch.replace); at != std::string::npos;
         at = content->find(patch.replace, at + patch.with.size())) {
        content->replace(at, patch.replace.size(), patch.with);
        ++count;
    }
    if (count == 0) {
        return base::failed(
            fmt::format("the workaround does not fit this SystemTap: '{}' is not in {}", patch.replace, patch.file),
            "switch the workaround off and see whether this SystemTap works without it, or upgrade SystemTap");
    }
    return base::replace_file(file, *content);
}

}  // namespace

base::Result<fs::path> patched_runtime(const fs::path& runtime, std::string_view stap_version,
                                       const std::vector<RuntimePatch>& patches, const fs::path& cache, Making making) {
    const auto place = cache / ("runtime-" + signature(runtime, stap_version, patches));
    std::error_code error;
    if (making == Making::planned || fs::is_directory(place, error)) return place;

    const auto unfinished = cache / fmt::format("{}.{}.tmp", place.filename().string(), ::getpid());
    const auto give_up = [&](base::Error reason) -> base::Result<fs::path> {
        std::error_code ignored;
        fs::remove_all(unfinished, ignored);
        return tl::make_unexpected(std::move(reason));
    };
    fs::remove_all(unfinished, error);
    fs::create_directories(cache, error);
    fs::copy(runtime, unfinished, fs::copy_options::recursive, error);
    if (error) {
        const bool is_full = error == std::errc::no_space_on_device;
        return give_up(
            {is_full ? base::ErrorKind::cannot_here : base::ErrorKind::failed,
             fmt::format("cannot copy {} to {}: {}", runtime.string(), unfinished.string(), error.message()),
             is_full ? fmt::format("make room in {}, or name another folder with $XDG_CACHE_HOME", cache.string())
                     : "the folder can be moved with $XDG_CACHE_HOME"});
    }
    for (const auto& patch : patches) {
        if (auto patched = patch_file(unfinished, patch); !patched) return give_up(patched.error());
    }
    if (auto kept = keep_times(runtime, unfinished); !kept) return give_up(kept.error());
    fs::rename(unfinished, place, error);
    // Another stapgen may have been quicker; its copy is as good.
    if (error && !fs::is_directory(place)) {
        return give_up(
            {base::ErrorKind::failed, fmt::format("cannot rename {}: {}", unfinished.string(), error.message()), ""});
    }
    if (error) fs::remove_all(unfinished, error);
    return place;
}

}  // namespace stapgen::host
