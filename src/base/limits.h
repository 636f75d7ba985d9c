// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

/// What comes from outside has a limit, stated here, which nothing honest meets: docs/inside/security.md. Over it is an
/// error with the limit (bad_input), or what is beyond is counted and said. A plain file that is read line by line has
/// none in bytes. Limits that are a part of how something is summed up are with it: Groups, IntervalLog, Series.
namespace stapgen::base::limits {

inline constexpr std::size_t mega = std::size_t{1} << 20U;

/// Of a line. Longer ones are cut.
inline constexpr std::size_t line_bytes = mega;

/// Of JSON: a recording's own lines, fleet.json, the lists of container runtimes. A header of a host with a thousand
/// modules has 10,000 values and is 3 deep; fleet.json has 7 values for each host.
inline constexpr std::size_t json_depth = 64, json_values = 200'000, json_bytes = 16 * mega;

/// Of a recording's declarations. A measure is a stage or a value: each takes 140 kB as soon as there is one record.
/// stapgen's own recipes have up to 22 fields and 13 measures.
inline constexpr std::size_t fields = 256, measures = 64, kinds_of_records = 64;
/// All recordings in one input together.
inline constexpr std::size_t measures_in_input = 192;
/// What a `tick` or `end` line counts.
inline constexpr std::size_t counts = 1000;
/// Stages of all directions together (texts of the field `way`); further directions are "other". Each takes up to 70
/// kB.
inline constexpr std::size_t direction_stages = 256;
/// Histograms of all groups together, half a kB each and half a kB for each doubling in it: 512 groups of 16 measures.
inline constexpr std::size_t group_histograms = 8192;

/// Of a text that is held whole: symbols, modules, a recipe, a list of hosts. /proc/kallsyms with thousands of modules
/// is some 20 MB.
inline constexpr std::size_t kernel_text_bytes = 256 * mega;
/// A recipe.toml, script.stp or config.toml; and how deep tables are in it.
inline constexpr std::size_t recipe_bytes = mega, toml_depth = 16;
/// A list of hosts.
inline constexpr std::size_t hosts_bytes = mega, hosts = 10'000;
/// Of a host of a fleet: an answer (facts are 2 KiB), a module that it compiled (300 KiB, with --all-modules 13 MiB),
/// stderr while it measures (a line a second, and what goes wrong), its packed recording (2 MB a minute are usual;
/// 100,000 packets a second some 2 MB/s).
inline constexpr std::size_t host_answer_bytes = 64 << 10U, host_module_bytes = 64 * mega;
constexpr std::size_t host_stderr_bytes(std::size_t seconds) {
    return mega + (seconds << 10U);
}
constexpr std::size_t host_recording_bytes(std::size_t seconds) {
    return 256 * mega + seconds * 4 * mega;
}

/// A vmlinux with debug information, unpacked; and a kernel in its image.
inline constexpr std::size_t elf_bytes = 2048 * mega, kernel_image_bytes = 1024 * mega;
/// What is packed unpacks to this much for each of its bytes at most, beyond a beginning. Records are packed to a fifth
/// or a twentieth, symbols to a tenth, a kernel to a fourth: a recording is read line by line, the others are held.
inline constexpr std::uint64_t unpacked_free_bytes = 16 * mega, unpacked_for_each = 256;
inline constexpr std::uint64_t held_free_bytes = 4 * mega, held_for_each = 24;
constexpr std::uint64_t unpacked_bytes(std::uint64_t packed) {
    return unpacked_free_bytes + unpacked_for_each * packed;
}
constexpr std::uint64_t held_bytes(std::uint64_t packed) {
    return held_free_bytes + held_for_each * packed;
}
/// What unpacking may take: `xz -9` needs 65 MB, zstd's usual levels 8 MB; Debian 13 packs its kernel by `zstd --ultra
/// -22`, with a window of 2^27 bytes.
inline constexpr std::size_t unpacker_bytes = 80 * mega;
inline constexpr int zstd_window_bits = 27;

}  // namespace stapgen::base::limits
