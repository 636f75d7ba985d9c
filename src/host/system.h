// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::host {

/// A counter of a network device: "link.rx_dropped" of "eth0".
struct DeviceCounter {
    std::string name, device;
    std::uint64_t value = 0;
};

/// The machine as the rest of host/ sees it: files, programs and who we are. Reading only.
class System {
  public:
    virtual ~System() = default;

    /// The file's content, or nothing if it is not there or not readable. `limit` 0 means all of it.
    [[nodiscard]] virtual std::optional<std::string> read(const std::filesystem::path& path,
                                                          std::size_t limit = 0) const = 0;
    /// The same up to where `last` is, and somewhat further; all where it is not there. For /proc/kallsyms, whose lines
    /// the kernel makes as they are read.
    [[nodiscard]] virtual std::optional<std::string> read_until(const std::filesystem::path& path,
                                                                [[maybe_unused]] std::string_view last) const {
        return read(path);
    }
    /// A file or a folder, links followed.
    [[nodiscard]] virtual bool exists(const std::filesystem::path& path) const = 0;
    /// The names in a folder, sorted; none if it cannot be read.
    [[nodiscard]] virtual std::vector<std::string> list(const std::filesystem::path& folder) const = 0;
    /// Bytes that this process may still fill where the file or folder is or would be; nothing if that is not known.
    [[nodiscard]] virtual std::optional<std::uint64_t> free_space(const std::filesystem::path& path) const = 0;
    /// Whether it is an ELF file with a section .debug_info.
    [[nodiscard]] virtual bool has_dwarf(const std::filesystem::path& path) const = 0;
    /// Where a program is that would be started under this name (a name with a slash is taken as it is).
    [[nodiscard]] virtual std::optional<std::filesystem::path> find_program(const std::string& name) const = 0;
    /// The output of a short command, stdout and stderr together.
    [[nodiscard]] virtual base::Result<std::string> output_of(const std::vector<std::string>& argv) const = 0;
    /// As `uname -r`.
    [[nodiscard]] virtual std::string running_release() const = 0;
    /// As `uname -m`: "x86_64", "aarch64".
    [[nodiscard]] virtual std::string running_architecture() const = 0;
    [[nodiscard]] virtual bool is_root() const = 0;
    /// Names of the groups this process is in.
    [[nodiscard]] virtual std::set<std::string> groups() const = 0;
    /// The counters of every network device of this process's network namespace, first
    /// those of `ip -s link` ("link.rx_dropped"), then those of `ethtool -S` ("ethtool.rx_no_buffer_count").
    [[nodiscard]] virtual std::vector<DeviceCounter> device_counters() const = 0;
    /// The keys in one of the kernel's rings, by their numbers in /proc/keys. Nothing if it cannot be read.
    [[nodiscard]] virtual std::optional<std::vector<std::uint64_t>> keys_in(std::uint64_t ring) const = 0;
};

/// Runs a short program and returns what it prints.
using CommandRunner = std::function<base::Result<std::string>(const std::vector<std::string>& argv)>;

/// The machine we run on. Starting programs is launch's business, so a way to do it is handed in, which only
/// output_of() needs; launch::this_machine() makes one that has it.
std::unique_ptr<System> real_system(CommandRunner runner = {});

/// The folders programs are looked for in: the absolute ones of $PATH, then the usual ones.
std::vector<std::filesystem::path> program_folders();

/// For which machine a file is, as `uname -m` names it; one that has no name here is "machine 8" by its number. Empty
/// if it is no ELF file.
std::string elf_machine(const std::filesystem::path& file);

/// The first `limit` bytes of a section of an ELF file. Nothing if it cannot be read, is no ELF file or has no section
/// of this name.
std::optional<std::string> elf_section(const std::filesystem::path& file, std::string_view name, std::size_t limit);

/// A section's bytes in the content of an ELF file; none if it is no ELF file or has no section of this name.
std::span<char> elf_section_in(std::string& content, std::string_view name);

}  // namespace stapgen::host
