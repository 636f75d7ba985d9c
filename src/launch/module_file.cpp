#include "launch/module_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "base/text.h"

namespace stapgen::launch {

namespace {

/// The NUL-separated key=value entries of a section.
base::Result<std::string> section(const std::filesystem::path& file, std::string_view wanted) {
    if (::elf_version(EV_CURRENT) == EV_NONE) return base::failed("libelf is too old for its header");
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return base::bad_input(fmt::format("cannot open the module {}", file.string()));
    const auto close_file = std::shared_ptr<void>(nullptr, [fd](void*) { ::close(fd); });
    const std::unique_ptr<Elf, int (*)(Elf*)> elf(::elf_begin(fd, ELF_C_READ, nullptr), ::elf_end);
    const auto damaged = [&] {
        return base::bad_input(fmt::format("{} is not a kernel module", file.string()),
                               "name a .ko file made by stapgen build or by stap -p4");
    };
    std::size_t names = 0;
    if (!elf || ::elf_kind(elf.get()) != ELF_K_ELF || ::elf_getshdrstrndx(elf.get(), &names) != 0) {
        return damaged();
    }
    for (Elf_Scn* part = nullptr; (part = ::elf_nextscn(elf.get(), part)) != nullptr;) {
        GElf_Shdr header;
        if (::gelf_getshdr(part, &header) == nullptr) return damaged();
        const char* name = ::elf_strptr(elf.get(), names, header.sh_name);
        if (name == nullptr || name != wanted) continue;
        const Elf_Data* data = ::elf_rawdata(part, nullptr);
        if (data == nullptr || data->d_buf == nullptr) return damaged();
        return std::string(static_cast<const char*>(data->d_buf), data->d_size);
    }
    return damaged();
}

/// By the mark that the kernel's scripts/sign-file leaves at the end.
bool ends_with_signature(const std::filesystem::path& file) {
    constexpr std::string_view mark = "~Module signature appended~\n";
    std::ifstream in(file, std::ios::binary);
    std::string end(mark.size(), '\0');
    in.seekg(-static_cast<std::streamoff>(mark.size()), std::ios::end);
    return in.read(end.data(), static_cast<std::streamsize>(end.size())) && end == mark;
}

}  // namespace

base::Result<ModuleInfo> read_module_info(const std::filesystem::path& file) {
    const auto text = section(file, ".modinfo");
    if (!text) return tl::make_unexpected(text.error());
    ModuleInfo info;
    for (const auto entry : base::split(*text, '\0')) {
        const auto equals = std::min(entry.find('='), entry.size());
        const auto key = entry.substr(0, equals);
        const auto value = entry.substr(std::min(equals + 1, entry.size()));
        if (key == "name") info.name = value;
        if (key == "vermagic") info.release = value.substr(0, value.find(' '));
        if (key == "parmtype") info.parameters.emplace(value.substr(0, value.find(':')));
        if (key == "description") info.systemtap = value == "systemtap-generated probe";
    }
    info.is_signed = ends_with_signature(file);
    // Kernels before 4.13 leave the name out; the file's is the best guess then.
    if (info.name.empty()) info.name = file.stem().string();
    return info;
}

base::Result<LoadableModule> make_loadable(const std::filesystem::path& file) {
    auto info = read_module_info(file);
    if (!info) return tl::make_unexpected(info.error());
    // The name becomes a file's, and comes from a file that anybody may have made.
    if (info->name.empty() || info->name.find_first_of("/ ") != std::string::npos || info->name[0] == '.') {
        return base::bad_input(fmt::format("{} has no usable module name", file.string()));
    }
    std::error_code error;
    const auto absolute = std::filesystem::absolute(file, error);
    if (file.filename() == info->name + ".ko") return LoadableModule{absolute, *info, std::nullopt};

    auto folder = base::PrivateDirectory::create();
    if (!folder) return tl::make_unexpected(folder.error());
    const auto copy = folder->path() / (info->name + ".ko");
    std::filesystem::copy_file(absolute, copy, error);
    if (error) return base::failed(fmt::format("cannot copy {}: {}", file.string(), error.message()));
    return LoadableModule{copy, *info, std::move(*folder)};
}

std::string loaded_name(std::string_view name, pid_t pid) {
    const auto tail = fmt::format("_{}", pid);
    // staprun keeps the length of the name, and leaves one alone that is too short.
    if (name.size() < tail.size()) return std::string(name);
    return std::string(name.substr(0, name.size() - tail.size())) + tail;
}

bool is_loaded(std::string_view proc_modules, std::string_view name) {
    for (const auto line : base::split(proc_modules, '\n')) {
        if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ') return true;
    }
    return false;
}

}  // namespace stapgen::launch
