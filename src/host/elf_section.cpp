#include "host/elf_section.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace stapgen::host {

std::optional<std::string> elf_section(const std::filesystem::path& file, std::string_view name, std::size_t limit) {
    if (::elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    const auto close_file = std::shared_ptr<void>(nullptr, [fd](void*) { ::close(fd); });
    const std::unique_ptr<Elf, int (*)(Elf*)> elf(::elf_begin(fd, ELF_C_READ, nullptr), ::elf_end);
    std::size_t names = 0;
    if (!elf || ::elf_kind(elf.get()) != ELF_K_ELF || ::elf_getshdrstrndx(elf.get(), &names) != 0) return std::nullopt;
    for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf.get(), section)) != nullptr;) {
        GElf_Shdr header;
        if (::gelf_getshdr(section, &header) == nullptr) return std::nullopt;
        const char* found = ::elf_strptr(elf.get(), names, header.sh_name);
        if (found == nullptr || found != name) continue;
        if (limit == 0) return std::string();
        const Elf_Data* data = ::elf_rawdata(section, nullptr);
        if (data == nullptr || data->d_buf == nullptr) return std::nullopt;
        return std::string(static_cast<const char*>(data->d_buf), std::min(data->d_size, limit));
    }
    return std::nullopt;
}

}  // namespace stapgen::host
