#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stapgen::base {

/// Bytes of a file or of stdin, unpacked if they are compressed, in UTF-8 if they are UTF-16: see as_utf8().
class Source {
  public:
    /// "-" is stdin. Reads the first bytes.
    static Result<std::unique_ptr<Source>> open(const std::filesystem::path& path);
    virtual ~Source() = default;

    /// At least one byte, and what there is at once; 0 at the end. Errors: reading fails; the data is damaged.
    virtual Result<std::size_t> read(std::span<char> into) = 0;
    /// At the end: it came in the middle of compressed data.
    [[nodiscard]] virtual bool cut_short() const = 0;
};

/// What a source begins with, and the error that came behind it.
struct Beginning {
    std::string bytes;
    std::optional<Error> error;
};
/// Reads `size` bytes; fewer at the end and at an error.
Beginning read_beginning(Source& source, std::size_t size);
/// A source that gives out again what was read of this one.
std::unique_ptr<Source> resumed(std::unique_ptr<Source> source, Beginning beginning);

/// More than any text about a kernel has: /proc/kallsyms with thousands of modules is some 20 MB.
inline constexpr std::size_t max_kernel_text = std::size_t{256} << 20U;

/// All of it. Errors: those of open() and read(), that it is cut short, and that it is larger than what `limit_of` says
/// of its first bytes: a megabyte may unpack to all memory.
Result<std::string> read_unpacked(const std::filesystem::path& path,
                                  const std::function<std::size_t(std::string_view beginning)>& limit_of);
Result<std::string> read_unpacked(const std::filesystem::path& path, std::size_t limit);

}  // namespace stapgen::base
