#include "symbols/files/file_bytes.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.h"
#include "base/source.h"
#include "base/unpacker.h"

namespace stapgen::symbols {

namespace {

/// A vmlinux with DWARF has up to 900 MB.
std::size_t max_unpacked(std::string_view beginning) {
    return beginning.starts_with(ELFMAG) ? std::size_t{2} << 30U : base::max_kernel_text;
}

}  // namespace

FileBytes::FileBytes(std::string made) {
    const auto owner = std::make_shared<std::string>(std::move(made));
    owner_ = owner;
    bytes_ = *owner;
}

base::Result<FileBytes> FileBytes::read(const std::filesystem::path& path) {
    const auto unpacked = [&] {
        return base::read_unpacked(path, max_unpacked).map([](std::string&& made) {
            return FileBytes(std::move(made));
        });
    };
    const base::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd.get() < 0) {
        return base::bad_input(fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                               "name a file that can be read");
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return unpacked();
    const auto size = static_cast<std::size_t>(status.st_size);
    // Writable and private: libdw relocates a module's DWARF in place.
    void* const begin = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd.get(), 0);
    if (begin == MAP_FAILED) {
        return base::bad_input(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)),
                               "copy it to a disk of this machine");
    }
    FileBytes file(std::shared_ptr<void>(begin, [size](void* mapped) { ::munmap(mapped, size); }),
                   {static_cast<char*>(begin), size});
    const auto beginning = file.text().substr(0, base::magic_size);
    if (base::make_unpacker(beginning) != nullptr || base::changes_as_utf8(beginning)) return unpacked();
    return file;
}

}  // namespace stapgen::symbols
