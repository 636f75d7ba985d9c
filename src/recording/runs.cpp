#include "recording/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "recording/reader.h"

namespace stapgen::recording {

base::Result<std::vector<Run>> runs_of(const std::vector<std::filesystem::path>& files) {
    std::vector<Run> runs;
    std::map<std::string, std::map<std::int64_t, std::filesystem::path>> parts;
    for (const auto& file : files) {
        std::error_code error;
        Run alone{{}, {file}, {}};
        if (file != "-" && (std::filesystem::is_regular_file(file, error) || error)) {
            const auto reader = Reader::open(file);
            if (!reader) return tl::make_unexpected(reader.error());
            if (const auto& header = reader->header(); header && !header->run_id.empty()) {
                alone.id = header->run_id;
                const auto [known, is_new] = parts[alone.id].emplace(header->part, file);
                if (!is_new) {
                    return base::bad_input(fmt::format("{} and {} are the same part of the same recording",
                                                       known->second.string(), file.string()),
                                           "give each file once");
                }
            }
        }
        if (alone.id.empty() || std::ranges::find(runs, alone.id, &Run::id) == runs.end()) runs.push_back(alone);
    }
    for (auto& run : runs) {
        if (run.id.empty()) continue;
        run.files.clear();
        std::int64_t expected = 0;
        for (const auto& [part, file] : parts[run.id]) {
            if (part > expected) run.missing.emplace_back(expected, part - 1);
            expected = std::min(part, std::numeric_limits<std::int64_t>::max() - 1) + 1;
            run.files.push_back(file);
        }
    }
    return runs;
}

}  // namespace stapgen::recording
