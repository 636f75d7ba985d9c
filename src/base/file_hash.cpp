// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file_hash.h"

#include <fmt/format.h>
#include <sys/types.h>

// Its own header needs sys/types.h before it.
#include <sha2.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace stapgen::base {

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> digest{};
    if (::SHA256File(path.c_str(), digest.data()) == nullptr)
        return bad_input(fmt::format("cannot read {}: {}", printable(path.string()), std::strerror(errno)),
                         "name a file that can be read");
    return digest.data();
}

}  // namespace stapgen::base
