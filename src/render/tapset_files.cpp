// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/tapset_files.h"

#include <algorithm>

#include "base/files.h"

namespace stapgen::render {

namespace {

/// A script that has tapsets in it is for people to read; LICENSE holds for it without the line.
std::string without_licence_line(std::string text) {
    const auto end = text.find('\n');
    if (text.substr(0, end).find("SPDX-License-Identifier:") != std::string::npos) text.erase(0, end + 1);
    return text;
}

}  // namespace

std::vector<std::filesystem::path> tapset_folders(const recipe::ProgramFiles& files, const std::string& debuginfo) {
    return {files.tapsets, files.tapsets / ("debuginfo-" + debuginfo)};
}

base::Result<std::vector<TapsetFile>> read_tapsets(const std::vector<std::filesystem::path>& folders) {
    std::vector<TapsetFile> tapsets;
    std::error_code error;
    for (const auto& folder : folders) {
        // Files of c/: the C of the tapset includes by that name.
        for (const std::string below : {"", "c/"}) {
            for (const auto& entry : std::filesystem::directory_iterator(folder / below, error)) {
                if (!entry.is_regular_file(error)) continue;
                STAPGEN_LET(auto text, base::read_file(entry.path()));
                tapsets.push_back({below + entry.path().filename().string(), without_licence_line(std::move(text))});
            }
        }
    }
    std::sort(tapsets.begin(), tapsets.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return tapsets;
}

}  // namespace stapgen::render
