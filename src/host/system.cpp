// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <grp.h>
#include <libelf.h>
#include <linux/keyctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "base/files.h"
#include "base/text.h"
#include "host/net_counters.h"

namespace stapgen::host {

namespace {

/// Whether file and folder belong to root and not everybody may write them. Some distributions let a group of
/// administrators write /usr/local.
bool is_roots(const std::filesystem::path& program) {
    std::error_code error;
    const auto real = std::filesystem::canonical(program, error);
    for (const auto& place : {program.parent_path(), real.parent_path(), real}) {
        struct stat status {};
        if (error || ::stat(place.c_str(), &status) != 0 || status.st_uid != 0) return false;
        const bool is_sticky_folder = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
        if ((status.st_mode & S_IWOTH) != 0 && !is_sticky_folder) return false;
    }
    return true;
}

}  // namespace

std::vector<std::filesystem::path> program_folders() {
    std::vector<std::filesystem::path> folders;
    const auto add = [&](std::string_view folder) {
        for (const auto& known : folders) {
            if (known == folder) return;
        }
        if (folder.starts_with('/')) folders.emplace_back(folder);
    };
    const char* path = std::getenv("PATH");
    for (const auto folder : base::split(path == nullptr ? "" : path, ':'))
        add(folder);
    for (const auto* folder : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}) {
        add(folder);
    }
    return folders;
}

namespace {

class RealSystem final : public System {
  public:
    explicit RealSystem(CommandRunner runner) : runner_(std::move(runner)) {}

    [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& path, std::size_t limit) const override {
        auto content = limit == 0 ? base::read_file(path) : base::read_file(path, limit);
        if (!content) return std::nullopt;
        return std::move(*content);
    }

    [[nodiscard]] std::optional<std::string> read_until(const std::filesystem::path& path,
                                                        std::string_view last) const override {
        constexpr std::size_t piece = 1 << 18;
        std::ifstream file(path, std::ios::binary);
        if (!file) return std::nullopt;
        std::string content;
        for (std::size_t searched = 0; content.find(last, searched) == std::string::npos;) {
            searched = content.size() < last.size() ? 0 : content.size() - last.size();
            const auto before = content.size();
            content.resize(before + piece);
            file.read(content.data() + before, piece);
            content.resize(before + static_cast<std::size_t>(file.gcount()));
            if (!file) break;
        }
        return content;
    }

    [[nodiscard]] bool exists(const std::filesystem::path& path) const override {
        std::error_code ignored;
        return std::filesystem::exists(path, ignored);
    }

    [[nodiscard]] std::vector<std::string> list(const std::filesystem::path& folder) const override {
        return base::names_in(folder);
    }

    [[nodiscard]] std::optional<std::uint64_t> free_space(const std::filesystem::path& path) const override {
        std::error_code error;
        auto there = std::filesystem::absolute(path, error);
        while (!std::filesystem::exists(there, error) && there.has_relative_path())
            there = there.parent_path();
        const auto space = std::filesystem::space(there, error);
        if (error) return std::nullopt;
        return space.available;
    }

    [[nodiscard]] bool has_dwarf(const std::filesystem::path& path) const override {
        return elf_section(path, ".debug_info", 0).has_value();
    }

    [[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name) const override {
        const auto runs = [](const std::filesystem::path& path) {
            std::error_code ignored;
            return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
        };
        if (name.find('/') != std::string::npos) {
            std::error_code error;
            auto path = std::filesystem::absolute(name, error);
            if (error || !runs(path)) return std::nullopt;
            return path;
        }
        for (const auto& folder : program_folders()) {
            if (runs(folder / name) && (::geteuid() != 0 || is_roots(folder / name))) return folder / name;
        }
        return std::nullopt;
    }

    [[nodiscard]] base::Result<std::string> output_of(const std::vector<std::string>& argv) const override {
        return runner_(argv);
    }

    [[nodiscard]] std::string running_release() const override {
        utsname names{};
        return ::uname(&names) == 0 ? names.release : "";
    }

    [[nodiscard]] std::string running_architecture() const override {
        utsname names{};
        return ::uname(&names) == 0 ? names.machine : "";
    }

    [[nodiscard]] bool is_root() const override { return ::geteuid() == 0; }

    [[nodiscard]] std::set<std::string> groups() const override {
        std::vector<gid_t> ids(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
        ids.resize(static_cast<std::size_t>(std::max(0, ::getgroups(static_cast<int>(ids.size()), ids.data()))));
        ids.push_back(::getegid());
        // Read from the file and not asked of the C library: a static binary has no name service, and SystemTap's
        // groups are local ones.
        std::set<std::string> names;
        const auto file = read("/etc/group", 0).value_or("");
        for (const auto line : base::split(file, '\n')) {
            const auto fields = base::split(line, ':');
            if (fields.size() < 3) continue;
            const auto id = base::to_unsigned(fields[2]);
            for (const auto own : ids) {
                if (id == own) names.emplace(fields[0]);
            }
        }
        return names;
    }

    [[nodiscard]] std::optional<std::vector<std::uint64_t>> keys_in(std::uint64_t ring) const override {
        std::array<std::int32_t, 1024> keys{};
        // It answers with the size that it has, and writes nothing if that is more than there is room for.
        const auto bytes =
            ::syscall(SYS_keyctl, KEYCTL_READ, static_cast<std::int32_t>(ring), keys.data(), sizeof(keys));
        if (bytes < 0 || static_cast<std::size_t>(bytes) > sizeof(keys)) return std::nullopt;
        std::vector<std::uint64_t> found;
        for (std::size_t i = 0; i < static_cast<std::size_t>(bytes) / sizeof(keys[0]); ++i)
            found.push_back(static_cast<std::uint32_t>(keys[i]));
        return found;
    }

    [[nodiscard]] std::vector<DeviceCounter> device_counters() const override {
        auto counters = read_link_counters();
        std::set<std::string> devices;
        for (const auto& counter : counters)
            devices.insert(counter.device);
        for (const auto& device : devices)
            add_ethtool_counters(device, counters);
        return counters;
    }

  private:
    CommandRunner runner_;
};

}  // namespace

std::unique_ptr<System> real_system(CommandRunner runner) {
    return std::make_unique<RealSystem>(std::move(runner));
}

namespace {

/// An ELF file, or the content of one, while it is read; false if it is none.
class OpenElf {
  public:
    explicit OpenElf(const std::filesystem::path& file) : fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (fd_.get() >= 0 && ::elf_version(EV_CURRENT) != EV_NONE) take(::elf_begin(fd_.get(), ELF_C_READ, nullptr));
    }
    explicit OpenElf(std::string& content) : fd_(-1) {
        if (::elf_version(EV_CURRENT) != EV_NONE) take(::elf_memory(content.data(), content.size()));
    }
    [[nodiscard]] Elf* get() const { return elf_.get(); }
    explicit operator bool() const { return elf_ != nullptr; }

  private:
    void take(Elf* elf) {
        elf_.reset(elf);
        if (elf_ && ::elf_kind(elf_.get()) != ELF_K_ELF) elf_.reset();
    }

    base::Descriptor fd_;
    std::unique_ptr<Elf, int (*)(Elf*)> elf_{nullptr, ::elf_end};
};

/// The section of this name and its header.
std::optional<std::pair<Elf_Scn*, GElf_Shdr>> find_section(const OpenElf& elf, std::string_view name) {
    std::size_t names = 0;
    if (!elf || ::elf_getshdrstrndx(elf.get(), &names) != 0) return std::nullopt;
    for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf.get(), section)) != nullptr;) {
        GElf_Shdr header;
        if (::gelf_getshdr(section, &header) == nullptr) return std::nullopt;
        const char* found = ::elf_strptr(elf.get(), names, header.sh_name);
        if (found != nullptr && found == name) return std::pair(section, header);
    }
    return std::nullopt;
}

}  // namespace

std::string elf_machine(const std::filesystem::path& file) {
    constexpr std::array<std::pair<unsigned, std::string_view>, 6> names{{{EM_X86_64, "x86_64"},
                                                                          {EM_AARCH64, "aarch64"},
                                                                          {EM_PPC64, "ppc64le"},
                                                                          {EM_S390, "s390x"},
                                                                          {EM_386, "i686"},
                                                                          {EM_ARM, "armv7l"}}};
    const OpenElf elf(file);
    GElf_Ehdr header;
    if (!elf || ::gelf_getehdr(elf.get(), &header) == nullptr) return {};
    for (const auto& [number, name] : names) {
        if (header.e_machine == number) return std::string(name);
    }
    return fmt::format("machine {}", header.e_machine);
}

std::optional<std::string> elf_section(const std::filesystem::path& file, std::string_view name, std::size_t limit) {
    const OpenElf elf(file);
    const auto section = find_section(elf, name);
    if (!section) return std::nullopt;
    if (limit == 0) return std::string();
    const Elf_Data* data = ::elf_rawdata(section->first, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return std::nullopt;
    return std::string(static_cast<const char*>(data->d_buf), std::min(data->d_size, limit));
}

std::span<char> elf_section_in(std::string& content, std::string_view name) {
    const OpenElf elf(content);
    const auto section = find_section(elf, name);
    if (!section) return {};
    const auto& header = section->second;
    if (header.sh_offset > content.size() || header.sh_size > content.size() - header.sh_offset) return {};
    return {content.data() + header.sh_offset, header.sh_size};
}

}  // namespace stapgen::host
