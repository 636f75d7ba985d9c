#include "symbols/files/release.h"

#include <string_view>

namespace stapgen::symbols {

std::string release_in_name(const std::filesystem::path& file) {
    const auto starts_as_release = [](std::string_view text) {
        return !text.empty() && text[0] >= '1' && text[0] <= '9' && text.find('.') != std::string_view::npos;
    };
    const auto name = file.filename().string();
    for (const std::string_view known : {"System.map-", "vmlinux-", "vmlinuz-", "kallsyms-", "config-"}) {
        if (!name.starts_with(known)) continue;
        auto release = std::string_view(name).substr(known.size());
        for (const std::string_view packing : {".gz", ".xz", ".zst"}) {
            if (release.ends_with(packing)) release.remove_suffix(packing.size());
        }
        return std::string(starts_as_release(release) ? release : "");
    }
    const auto folder = file.parent_path().filename().string();
    return starts_as_release(folder) ? folder : "";
}

}  // namespace stapgen::symbols
