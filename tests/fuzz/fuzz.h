#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// What libFuzzer, or replay.cpp, calls with each input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace stapgen::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Something that is true whatever the input is. Ends the program if it is not: that is what a fuzzer sees. (Clang 14
/// has no std::source_location.)
inline void always(bool truth, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (truth) return;
    std::fprintf(stderr, "%s:%d: not always true\n", file, line);
    std::abort();
}

}  // namespace stapgen::fuzz
