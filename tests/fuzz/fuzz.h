// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// FUZZ_TARGET(btf) { ...; return 0; } is called with each input: `size` bytes at `data`. Its name is its file's. With
/// libFuzzer each is a program of its own; else replay.cpp knows all by name.
#ifdef STAPGEN_FUZZ
#define FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
#else
#define FUZZ_TARGET(name)                                                                            \
    static int fuzz_##name(const std::uint8_t* data, std::size_t size);                              \
    [[maybe_unused]] static const bool name##_added = stapgen::fuzz::add_target(#name, fuzz_##name); \
    static int fuzz_##name(const std::uint8_t* data, std::size_t size)
#endif

namespace stapgen::fuzz {

using Target = int (*)(const std::uint8_t* data, std::size_t size);
bool add_target(std::string_view name, Target target);

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
