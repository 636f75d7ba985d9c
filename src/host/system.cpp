#include "host/system.h"

#include <fcntl.h>
#include <gelf.h>
#include <grp.h>
#include <libelf.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/files.h"
#include "base/text.h"
#include "host/ethtool_counters.h"
#include "host/link_counters.h"

namespace stapgen::host {

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

std::optional<std::string> RealSystem::read(const std::filesystem::path& path, std::size_t limit) const {
    auto content = limit == 0 ? base::read_file(path) : base::read_file(path, limit);
    if (!content) return std::nullopt;
    return std::move(*content);
}

bool RealSystem::exists(const std::filesystem::path& path) const {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

std::vector<std::string> RealSystem::list(const std::filesystem::path& folder) const {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<std::uint64_t> RealSystem::free_space(const std::filesystem::path& path) const {
    std::error_code error;
    auto there = std::filesystem::absolute(path, error);
    while (!std::filesystem::exists(there, error) && there.has_relative_path())
        there = there.parent_path();
    const auto space = std::filesystem::space(there, error);
    if (error) return std::nullopt;
    return space.available;
}

bool RealSystem::has_dwarf(const std::filesystem::path& path) const {
    if (::elf_version(EV_CURRENT) == EV_NONE) return false;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const auto close_file = std::shared_ptr<void>(nullptr, [fd](void*) { ::close(fd); });
    const std::unique_ptr<Elf, int (*)(Elf*)> elf(::elf_begin(fd, ELF_C_READ, nullptr), ::elf_end);
    std::size_t names = 0;
    if (!elf || ::elf_kind(elf.get()) != ELF_K_ELF || ::elf_getshdrstrndx(elf.get(), &names) != 0) return false;
    for (Elf_Scn* part = nullptr; (part = ::elf_nextscn(elf.get(), part)) != nullptr;) {
        GElf_Shdr header;
        if (::gelf_getshdr(part, &header) == nullptr) return false;
        const char* name = ::elf_strptr(elf.get(), names, header.sh_name);
        if (name != nullptr && std::string_view(name) == ".debug_info") return true;
    }
    return false;
}

std::optional<std::filesystem::path> RealSystem::find_program(const std::string& name) const {
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
        if (runs(folder / name)) return folder / name;
    }
    return std::nullopt;
}

base::Result<std::string> RealSystem::output_of(const std::vector<std::string>& argv) const {
    return runner_(argv);
}

std::string RealSystem::running_release() const {
    utsname names{};
    return ::uname(&names) == 0 ? names.release : "";
}

bool RealSystem::is_root() const {
    return ::geteuid() == 0;
}

std::set<std::string> RealSystem::groups() const {
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

std::vector<DeviceCounter> RealSystem::device_counters() const {
    auto counters = read_link_counters();
    std::set<std::string> devices;
    for (const auto& counter : counters)
        devices.insert(counter.device);
    for (const auto& device : devices)
        add_ethtool_counters(device, counters);
    return counters;
}

std::optional<std::string> FakeSystem::read(const std::filesystem::path& path, std::size_t limit) const {
    const auto found = files.find(path.lexically_normal());
    if (found == files.end()) return std::nullopt;
    return limit == 0 ? found->second : found->second.substr(0, limit);
}

bool FakeSystem::exists(const std::filesystem::path& path) const {
    const auto wanted = path.lexically_normal().string();
    for (const auto& [file, content] : files) {
        if (file == wanted || file.string().starts_with(wanted + "/")) return true;
    }
    return false;
}

std::vector<std::string> FakeSystem::list(const std::filesystem::path& folder) const {
    std::set<std::string> names;
    for (const auto& [file, content] : files) {
        const auto inside = file.lexically_relative(folder.lexically_normal());
        if (!inside.empty() && *inside.begin() != ".." && *inside.begin() != ".") names.insert(*inside.begin());
    }
    return {names.begin(), names.end()};
}

std::optional<std::uint64_t> FakeSystem::free_space(const std::filesystem::path& /*path*/) const {
    return space;
}

bool FakeSystem::has_dwarf(const std::filesystem::path& path) const {
    const auto found = files.find(path.lexically_normal());
    return found != files.end() && found->second.starts_with(".debug_info");
}

std::optional<std::filesystem::path> FakeSystem::find_program(const std::string& name) const {
    const auto found = programs.find(name);
    if (found == programs.end()) return std::nullopt;
    return found->second;
}

base::Result<std::string> FakeSystem::output_of(const std::vector<std::string>& argv) const {
    const auto found = output.find(argv);
    if (found == output.end()) return base::failed("this program is not in the fake system");
    return found->second;
}

}  // namespace stapgen::host
