#include "symbols/source_path.h"

#include <algorithm>
#include <filesystem>

namespace stapgen::symbols {

std::string source_path(std::string_view file, std::string_view build) {
    const auto folder = std::filesystem::path(build).lexically_normal();
    auto path = std::filesystem::path(file).lexically_normal();
    for (;;) {
        const auto [own, shared] = std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
        // Every absolute one shares the root.
        const auto least = path.is_absolute() ? 2 : 1;
        if (std::distance(path.begin(), own) < least || own == path.end()) return path.string();
        std::filesystem::path rest;
        for (auto part = own; part != path.end(); ++part)
            rest /= *part;
        // Debian's compiler is told to leave the folder of the source out, and libdw puts that of the build before.
        path = std::move(rest);
    }
}

}  // namespace stapgen::symbols
