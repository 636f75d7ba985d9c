// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/result.h"

namespace stapgen::base {

/// Bytes of a file or of stdin, unpacked if they are compressed, in UTF-8 if they are UTF-16: see as_utf8().
class Source {
  public:
    /// Data is read and dropped line by line, or held whole. Compressed data may unpack to so much for each.
    enum class Use { lines, held };
    /// "-" is stdin. Reads the first bytes. An input with a budget of its own.
    static Result<std::unique_ptr<Source>> open(const std::filesystem::path& path, Use use = Use::lines);
    /// A copy of something that is in another input: it is charged to that, and its bytes do not come from outside.
    static Result<std::unique_ptr<Source>> open_copy(const std::filesystem::path& path, std::shared_ptr<Budget> budget);
    virtual ~Source() = default;

    /// At least one byte, and what there is at once; 0 at the end. Errors: reading fails; the data is damaged; those of
    /// its budget.
    virtual Result<std::size_t> read(std::span<char> into) = 0;
    /// At the end: it came in the middle of compressed data.
    [[nodiscard]] virtual bool cut_short() const = 0;
};

/// All of it. Errors: those of open() and read(), that it is cut short, and that it is larger than what `limit_of` says
/// of its first bytes: a megabyte may unpack to all memory.
Result<std::string> read_unpacked(const std::filesystem::path& path,
                                  const std::function<std::size_t(std::string_view beginning)>& limit_of);
Result<std::string> read_unpacked(const std::filesystem::path& path, std::size_t limit);

/// The same text in UTF-8 without a byte order mark. What has neither a mark nor the look of UTF-16 (every other byte
/// of the first four is 0) is passed through, whatever it is. Reads the first bytes; an error in that
/// is returned by the first read().
std::unique_ptr<Source> as_utf8(std::unique_ptr<Source> source);

/// Whether as_utf8() changes a text that begins so. Four bytes are enough.
bool changes_as_utf8(std::string_view beginning);

}  // namespace stapgen::base
