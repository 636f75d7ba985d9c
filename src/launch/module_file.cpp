// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/module_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/kernel.h"
#include "base/text.h"
#include "host/system.h"

namespace stapgen::launch {

namespace {

/// By the mark that the kernel's scripts/sign-file leaves at the end.
bool ends_with_signature(const std::filesystem::path& file) {
    constexpr std::string_view mark = "~Module signature appended~\n";
    std::ifstream in(file, std::ios::binary);
    std::string end(mark.size(), '\0');
    in.seekg(-static_cast<std::streamoff>(mark.size()), std::ios::end);
    return in.read(end.data(), static_cast<std::streamsize>(end.size())) && end == mark;
}

}  // namespace

std::set<std::string> probe_points_in(std::string_view strings) {
    constexpr std::size_t max_length = 1024, max_points = 65536;
    constexpr std::array<std::string_view, 4> beginnings{"kprobe.", "kernel.", "module(\"", "netfilter."};
    std::set<std::string> points;
    for (auto text : base::split(strings, '\0')) {
        if (text.size() > max_length || points.size() >= max_points) continue;
        if (std::ranges::none_of(beginnings, [&](auto beginning) { return text.starts_with(beginning); })) continue;
        if (text.find('(') == std::string_view::npos) continue;
        text = text.substr(0, text.find(" if ("));
        while (text.ends_with('!') || text.ends_with('?'))
            text.remove_suffix(1);
        std::string point(text);
        for (auto at = point.find('@'); at != std::string::npos; at = point.find('@', at))
            point.erase(at, std::min(point.find('"', at), point.size()) - at);
        points.insert(std::move(point));
    }
    return points;
}

bool names_file(std::string_view typed) {
    return typed.find_first_of("./") != std::string_view::npos;
}

base::Result<ModuleInfo> read_module_info(const std::filesystem::path& file) {
    // NUL-separated entries, key=value.
    constexpr std::size_t enough = 1024 * 1024;
    const auto text = host::elf_section(file, ".modinfo", enough);
    if (!text && ::access(file.c_str(), R_OK) != 0)
        return base::bad_input(fmt::format("cannot open the module {}: {}", file.string(),
                                           std::error_code(errno, std::generic_category()).message()),
                               "name a .ko file made by stapgen build");
    if (!text) {
        return base::bad_input(fmt::format("{} is not a kernel module", file.string()),
                               "name a .ko file made by stapgen build or by stap -p4");
    }
    ModuleInfo info;
    for (const auto entry : base::split(*text, '\0')) {
        const auto equals = std::min(entry.find('='), entry.size());
        const auto key = entry.substr(0, equals);
        const auto value = entry.substr(std::min(equals + 1, entry.size()));
        if (key == "name" && info.name.empty()) info.name = value;
        if (key == "vermagic" && info.release.empty()) info.release = value.substr(0, value.find(' '));
        if (key == "parmtype") info.parameters.emplace(value.substr(0, value.find(':')));
        if (key == recipe_key && info.recipe_hash.empty()) info.recipe_hash = value;
        if (key == "description") info.systemtap = value == "systemtap-generated probe";
    }
    // Where the compiler puts strings: the longer ones are aligned. GCC 15 copies the header from a constant.
    std::set<std::string> points;
    for (const auto* section : {".rodata.str1.1", ".rodata.str1.8", ".rodata.str", ".rodata"}) {
        constexpr std::size_t most = 16UL * 1024 * 1024;
        const auto texts = host::elf_section(file, section, most).value_or("");
        points.merge(probe_points_in(texts));
        if (const auto at = texts.find("stapgen\t"); info.header.empty() && at != std::string::npos) {
            const std::string_view line = texts.c_str() + at + std::string_view("stapgen\t").size();
            // A script that prints it with printf() has the line's end in it.
            info.header = line.substr(0, line.find('\n'));
        }
    }
    info.functions.assign(points.begin(), points.end());
    info.architecture = host::elf_machine(file);
    info.is_signed = ends_with_signature(file);
    // Kernels before 4.13 leave the name out; the file's is the best guess then.
    if (info.name.empty()) info.name = file.stem().string();
    // They become parts of paths, commands and messages.
    const auto wrong = [&](const char* what) {
        return base::bad_input(fmt::format("{}: its {} is not valid", base::printable(file.string()), what),
                               "name a .ko file made by stapgen build");
    };
    if (!base::is_module_name(info.name)) return wrong("module name");
    if (!info.release.empty() && !base::is_uts_name(info.release)) return wrong("kernel release");
    if (info.recipe_hash.find_first_not_of("0123456789abcdef") != std::string::npos) return wrong("recipe hash");
    return info;
}

base::Result<LoadableModule> make_loadable(const std::filesystem::path& file) {
    STAPGEN_LET(auto info, read_module_info(file));
    std::error_code error;
    const auto absolute = std::filesystem::absolute(file, error);
    if (file.filename() == info.name + ".ko") return LoadableModule{absolute, info, std::nullopt};

    STAPGEN_LET(auto folder, base::PrivateDirectory::create());
    const auto copy = folder.path() / (info.name + ".ko");
    std::filesystem::copy_file(absolute, copy, error);
    if (error) return base::failed(fmt::format("cannot copy {}: {}", file.string(), error.message()));
    return LoadableModule{copy, info, std::move(folder)};
}

void rename_module(std::string& content, std::string_view name, std::string_view new_name) {
    if (name.size() != new_name.size()) return;
    const std::string old(name);
    // The name that the kernel goes by is in its struct module; modinfo and we go by the other.
    for (const auto* section : {".gnu.linkonce.this_module", ".modinfo"}) {
        const auto bytes = host::elf_section_in(content, section);
        const auto found = std::search(bytes.begin(), bytes.end(), old.c_str(), old.c_str() + old.size() + 1);
        if (found != bytes.end()) std::ranges::copy(new_name, found);
    }
}

std::string with_tail(std::string_view name, std::string_view tail) {
    if (name.size() < tail.size()) return std::string(name);
    return std::string(name.substr(0, name.size() - tail.size())).append(tail);
}

std::string loaded_name(std::string_view name, pid_t pid) {
    // staprun keeps the length of the name, and leaves one alone that is too short.
    return with_tail(name, fmt::format("_{}", pid));
}

}  // namespace stapgen::launch
