// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/system.h"

namespace stapgen::host {

/// A machine made up for a test: its files, its programs and what they print.
struct FakeSystem : System {
    std::map<std::filesystem::path, std::string> files;      ///< DWARF in them begins with ".debug_info"
    std::optional<std::uint64_t> space;                      ///< free everywhere
    std::map<std::string, std::string> programs;             ///< name -> path
    std::map<std::vector<std::string>, std::string> output;  ///< argv -> what it prints
    std::string release = "6.1.0-56-amd64";
    std::string architecture = "x86_64";
    bool root = true;
    std::set<std::string> member_of;
    std::vector<DeviceCounter> devices;
    std::map<std::uint64_t, std::vector<std::uint64_t>> rings;  ///< of keys

    [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& path, std::size_t limit) const override {
        const auto found = files.find(path.lexically_normal());
        if (found == files.end()) return std::nullopt;
        return limit == 0 ? found->second : found->second.substr(0, limit);
    }
    [[nodiscard]] bool exists(const std::filesystem::path& path) const override {
        const auto wanted = path.lexically_normal().string();
        for (const auto& [file, content] : files) {
            if (file == wanted || file.string().starts_with(wanted + "/")) return true;
        }
        return false;
    }
    [[nodiscard]] std::vector<std::string> list(const std::filesystem::path& folder) const override {
        std::set<std::string> names;
        for (const auto& [file, content] : files) {
            const auto inside = file.lexically_relative(folder.lexically_normal());
            if (!inside.empty() && *inside.begin() != ".." && *inside.begin() != ".") names.insert(*inside.begin());
        }
        return {names.begin(), names.end()};
    }
    [[nodiscard]] std::optional<std::uint64_t> free_space(const std::filesystem::path& /*path*/) const override {
        return space;
    }
    [[nodiscard]] bool has_dwarf(const std::filesystem::path& path) const override {
        const auto found = files.find(path.lexically_normal());
        return found != files.end() && found->second.starts_with(".debug_info");
    }
    [[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name) const override {
        const auto found = programs.find(name);
        if (found == programs.end()) return std::nullopt;
        return found->second;
    }
    [[nodiscard]] base::Result<std::string> output_of(const std::vector<std::string>& argv) const override {
        const auto found = output.find(argv);
        if (found == output.end()) return base::failed("this program is not in the fake system");
        return found->second;
    }
    [[nodiscard]] std::string running_release() const override { return release; }
    [[nodiscard]] std::string running_architecture() const override { return architecture; }
    [[nodiscard]] bool is_root() const override { return root; }
    [[nodiscard]] std::set<std::string> groups() const override { return member_of; }
    [[nodiscard]] std::vector<DeviceCounter> device_counters() const override { return devices; }
    [[nodiscard]] std::optional<std::vector<std::uint64_t>> keys_in(std::uint64_t ring) const override {
        const auto found = rings.find(ring);
        return found == rings.end() ? std::nullopt : std::optional(found->second);
    }
};

}  // namespace stapgen::host
