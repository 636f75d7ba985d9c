#include "base/sha256.h"

#include <sha2.h>

#include <array>

namespace stapgen::base {

std::string sha256(std::string_view text) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> digest{};
    SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digest.data());
    return digest.data();
}

}  // namespace stapgen::base
