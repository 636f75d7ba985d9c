// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/budget.h"
#include "base/source.h"

/// Sources within sources: what is in an archive.
namespace stapgen::base {

/// The bytes of a file as they are, which come from outside; "-" is stdin. Error (bad_input): it cannot be opened.
Result<std::unique_ptr<Source>> open_raw(const std::filesystem::path& path, std::shared_ptr<Budget> budget);
/// The same of an open one, which it closes. `name` is for messages.
std::unique_ptr<Source> take_raw(int fd, std::string name, std::shared_ptr<Budget> budget);

/// The beginning of a source.
struct Peeked {
    std::string beginning;           ///< fewer bytes than asked for only at the end
    std::unique_ptr<Source> source;  ///< all of it
};
/// Reads the first `size` bytes. Errors: those of read().
Result<Peeked> peek(std::unique_ptr<Source> source, std::size_t size);

/// Its content, unpacked if it is compressed. `name` is for messages about its data.
Result<std::unique_ptr<Source>> unpacked(std::unique_ptr<Source> source, const std::string& name,
                                         std::shared_ptr<Budget> budget);

}  // namespace stapgen::base
