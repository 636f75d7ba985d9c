#include "cli/program_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "base/text.h"
#include "base/trust.h"

namespace stapgen::cli {

base::Result<ProgramFiles> find_program_files() {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto share = program.parent_path().parent_path() / "share" / "stapgen";
    if (error || !std::filesystem::is_directory(share / "templates", error)) {
        return base::cannot_here(fmt::format("stapgen's own files are not in {}", share.string()),
                                 "install it whole: 'cmake --install BUILD --prefix PREFIX'");
    }
    return ProgramFiles{share / "templates", share / "tapsets", share / "skeleton" / "my-recipe", share / "cures.toml",
                        share / "kernels.toml"};
}

std::optional<std::filesystem::path> user_recipe_folder() {
    const char* home = std::getenv("HOME");
    if (home == nullptr || home[0] != '/') return std::nullopt;
    return std::filesystem::path(home) / ".config" / "stapgen" / "recipes";
}

std::vector<recipe::RecipeFolder> recipe_folders(const std::string& recipe_path, const ProgramFiles& files) {
    const auto as_typed = [](const std::filesystem::path& path) -> base::Result<void> {
        if (::geteuid() != 0) return {};
        return base::only_root_writes(path);
    };
    std::vector<recipe::RecipeFolder> folders;
    const auto add = [&](std::string_view list) {
        for (const auto folder : base::split(list, ':')) {
            if (!folder.empty()) folders.push_back({folder, as_typed});
        }
    };
    add(recipe_path);
    if (const char* list = std::getenv("STAPGEN_RECIPE_PATH")) add(list);
    if (const auto own = user_recipe_folder()) folders.push_back({*own, as_typed});
    folders.push_back({files.templates});
    return folders;
}

std::vector<std::filesystem::path> tapset_folders(const ProgramFiles& files, const std::string& debuginfo) {
    return {files.tapsets, files.tapsets / ("debuginfo-" + debuginfo)};
}

base::Result<std::vector<render::TapsetFile>> read_tapsets(const std::vector<std::filesystem::path>& folders) {
    std::vector<render::TapsetFile> tapsets;
    std::error_code error;
    for (const auto& folder : folders) {
        for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
            if (!entry.is_regular_file(error)) continue;
            auto text = base::read_file(entry.path());
            if (!text) return tl::make_unexpected(text.error());
            tapsets.push_back({entry.path().filename().string(), *std::move(text)});
        }
    }
    std::sort(tapsets.begin(), tapsets.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return tapsets;
}

}  // namespace stapgen::cli
