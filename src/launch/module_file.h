#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace stapgen::launch {

/// What a .ko says about itself.
struct ModuleInfo {
    std::string name;                  ///< as the kernel will call it
    std::string release;               ///< the kernel it was built for
    bool systemtap = false;            ///< made by stap
    bool is_signed = false;            ///< there is a signature at its end, of whomever
    std::set<std::string> parameters;  ///< of these it takes values; the kernel ignores any other in silence
};

base::Result<ModuleInfo> read_module_info(const std::filesystem::path& file);

/// A module under the name staprun needs: staprun takes the module's name from the file's, so a file that was
/// renamed is copied to a private folder. Owns the copy.
struct LoadableModule {
    std::filesystem::path path;
    ModuleInfo info;
    std::optional<base::PrivateDirectory> copy;
};
base::Result<LoadableModule> make_loadable(const std::filesystem::path& file);

/// The name under which `staprun -R` of process `pid` loads the module `name`.
std::string loaded_name(std::string_view name, pid_t pid);

}  // namespace stapgen::launch
