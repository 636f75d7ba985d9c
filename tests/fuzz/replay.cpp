// SPDX-License-Identifier: GPL-2.0-or-later
/// In the place of libFuzzer's main(): runs files through a target, each once. fuzz_replay TARGET FILE|FOLDER...

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "fuzz.h"

namespace fs = std::filesystem;
using namespace stapgen;

/// In a function, so that it is there before the first target is added.
static std::map<std::string_view, fuzz::Target>& targets() {
    static std::map<std::string_view, fuzz::Target> all;
    return all;
}

bool fuzz::add_target(std::string_view name, Target target) {
    return targets().emplace(name, target).second;
}

int main(int argc, char** argv) {
    const std::span<char*> arguments(argv, argv + argc);
    const auto target = argc < 3 ? targets().end() : targets().find(arguments[1]);
    if (target == targets().end()) {
        std::fprintf(stderr, "usage: fuzz_replay TARGET FILE|FOLDER...; the targets:\n");
        for (const auto& [name, function] : targets())
            std::fprintf(stderr, "  %s\n", std::string(name).c_str());
        return EXIT_FAILURE;
    }
    std::vector<fs::path> files;
    for (const fs::path argument : arguments.subspan(2)) {
        if (!fs::is_directory(argument)) {
            files.push_back(argument);
            continue;
        }
        if (fs::is_empty(argument)) {
            std::fprintf(stderr, "%s is empty\n", argument.c_str());
            return EXIT_FAILURE;
        }
        for (const auto& entry : fs::directory_iterator(argument))
            files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const auto& file : files) {
        std::printf("%s\n", file.c_str());
        std::fflush(stdout);
        const auto content = base::read_file(file);
        if (!content) return EXIT_FAILURE;
        // A copy of the very size, so that a byte too many is seen.
        const std::vector<std::uint8_t> bytes(content->begin(), content->end());
        target->second(bytes.data(), bytes.size());
    }
    std::printf("%zu inputs\n", files.size());
    return EXIT_SUCCESS;
}
