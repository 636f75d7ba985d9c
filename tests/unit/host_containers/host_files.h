// SPDX-License-Identifier: GPL-2.0-or-later
// A machine as its files tell it, laid out in a folder.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/files.h"
#include "host/containers/machine.h"

namespace stapgen::containers {

inline std::string id_of(char digit) {
    return std::string(64, digit);
}

class HostFiles {
  public:
    [[nodiscard]] std::filesystem::path root() const { return folder_.path(); }

    void put(const std::string& file, const std::string& text) const {
        const auto path = root() / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
    }
    /// A cgroup of version 2, with those it is in: its id.
    std::uint64_t cgroup(const std::string& path) const {
        put("sys/fs/cgroup/cgroup.controllers", "memory pids\n");
        std::filesystem::create_directories(root() / ("sys/fs/cgroup" + path));
        return inode_of(root() / ("sys/fs/cgroup" + path)).value();
    }
    /// `cgroups`: the text of /proc/PID/cgroup.
    void process(int pid, const std::string& cgroups, std::uint64_t netns, const std::string& nspid = {}) const {
        const auto folder = fmt::format("proc/{}/", pid);
        put(folder + "cgroup", cgroups);
        std::filesystem::create_directories(root() / folder / "ns");
        std::filesystem::create_symlink(fmt::format("net:[{}]", netns), root() / folder / "ns/net");
        const auto status = fmt::format("Name:\tx\nNSpid:\t{}\n", nspid.empty() ? fmt::to_string(pid) : nspid);
        put(folder + "status", status);
        put(fmt::format("{}task/{}/status", folder, pid), status);
    }

  private:
    base::PrivateDirectory folder_ = base::PrivateDirectory::create().value();
};

constexpr std::uint64_t host_netns = 4026531833, red_netns = 4026532201, blue_netns = 4026532303;

}  // namespace stapgen::containers
