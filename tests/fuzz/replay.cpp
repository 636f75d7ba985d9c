/// In the place of libFuzzer's main(): runs each file of the folders on the command line through the target once.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <vector>

#include "base/files.h"
#include "fuzz.h"

namespace fs = std::filesystem;

int main(int argc, char** argv) {
    std::vector<fs::path> files;
    for (const char* folder : std::span(argv + 1, argv + argc)) {
        if (!fs::is_directory(folder)) continue;  // a target without regressions
        for (const auto& entry : fs::directory_iterator(folder))
            files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const auto& file : files) {
        std::printf("%s\n", file.c_str());
        std::fflush(stdout);
        const auto content = stapgen::base::read_file(file);
        if (!content) return EXIT_FAILURE;
        // A copy of the very size, so that a byte too many is seen.
        const std::vector<std::uint8_t> bytes(content->begin(), content->end());
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}
