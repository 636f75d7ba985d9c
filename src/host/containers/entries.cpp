#include "host/containers/entries.h"

#include <algorithm>
#include <system_error>

namespace stapgen::containers {

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> entries;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        entries.push_back(at->path());
    std::ranges::sort(entries);
    return entries;
}

}  // namespace stapgen::containers
