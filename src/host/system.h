#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace stapgen::host {

/// What is counted at a network device: "link.rx_dropped" of "eth0".
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
    /// What a short command prints, stdout and stderr together.
    [[nodiscard]] virtual base::Result<std::string> output_of(const std::vector<std::string>& argv) const = 0;
    /// As `uname -r`.
    [[nodiscard]] virtual std::string running_release() const = 0;
    [[nodiscard]] virtual bool is_root() const = 0;
    /// Names of the groups this process is in.
    [[nodiscard]] virtual std::set<std::string> groups() const = 0;
    /// The counters of every network device of this process's network namespace, first
    /// those of `ip -s link` ("link.rx_dropped"), then those of `ethtool -S` ("ethtool.rx_no_buffer_count").
    [[nodiscard]] virtual std::vector<DeviceCounter> device_counters() const = 0;
};

/// The machine we run on. Starting programs is launch's business, so a way to do it is handed in;
/// launch::this_machine() makes one that works.
class RealSystem final : public System {
  public:
    using CommandRunner = std::function<base::Result<std::string>(const std::vector<std::string>& argv)>;
    explicit RealSystem(CommandRunner runner) : runner_(std::move(runner)) {}

    [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& path, std::size_t limit) const override;
    [[nodiscard]] bool exists(const std::filesystem::path& path) const override;
    [[nodiscard]] std::vector<std::string> list(const std::filesystem::path& folder) const override;
    [[nodiscard]] std::optional<std::uint64_t> free_space(const std::filesystem::path& path) const override;
    [[nodiscard]] bool has_dwarf(const std::filesystem::path& path) const override;
    [[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name) const override;
    [[nodiscard]] base::Result<std::string> output_of(const std::vector<std::string>& argv) const override;
    [[nodiscard]] std::string running_release() const override;
    [[nodiscard]] bool is_root() const override;
    [[nodiscard]] std::set<std::string> groups() const override;
    [[nodiscard]] std::vector<DeviceCounter> device_counters() const override;

  private:
    CommandRunner runner_;
};

/// A machine made up for a test: its files, its programs and what they print.
struct FakeSystem final : System {
    std::map<std::filesystem::path, std::string> files;      ///< DWARF in them begins with ".debug_info"
    std::optional<std::uint64_t> space;                      ///< free everywhere
    std::map<std::string, std::string> programs;             ///< name -> path
    std::map<std::vector<std::string>, std::string> output;  ///< argv -> what it prints
    std::string release = "6.1.0-56-amd64";
    bool root = true;
    std::set<std::string> member_of;
    std::vector<DeviceCounter> devices;

    [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& path, std::size_t limit) const override;
    [[nodiscard]] bool exists(const std::filesystem::path& path) const override;
    [[nodiscard]] std::vector<std::string> list(const std::filesystem::path& folder) const override;
    [[nodiscard]] std::optional<std::uint64_t> free_space(const std::filesystem::path& path) const override;
    [[nodiscard]] bool has_dwarf(const std::filesystem::path& path) const override;
    [[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name) const override;
    [[nodiscard]] base::Result<std::string> output_of(const std::vector<std::string>& argv) const override;
    [[nodiscard]] std::string running_release() const override { return release; }
    [[nodiscard]] bool is_root() const override { return root; }
    [[nodiscard]] std::set<std::string> groups() const override { return member_of; }
    [[nodiscard]] std::vector<DeviceCounter> device_counters() const override { return devices; }
};

/// The folders programs are looked for in: the absolute ones of $PATH, then the usual ones.
std::vector<std::filesystem::path> program_folders();

}  // namespace stapgen::host
