// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

/// Limits of what comes from outside, which nothing honest meets: docs/trust/security.md. Beyond one is an
/// error with the limit (bad_input), or what is beyond is counted and said. A plain file that is read line by line has
/// none in bytes. What one input may cost in all, with what is in it, base::Budget charges. Limits that are a part of
/// how something is summed up are with it: Groups, IntervalLog, Series.
namespace stapgen::base::limits {

inline constexpr std::size_t mega = std::size_t{1} << 20U;

/// Bytes of a line. Longer ones are cut.
inline constexpr std::size_t line_bytes = mega;

/// Bytes of a line that is a record, ours or another tool's: longer ones are none. Ours have up to 22 fields, and the
/// kernel's longest name, a function's, has 511 bytes.
inline constexpr std::size_t record_bytes = 16U << 10U;
/// Bytes of the names and call paths that rows are counted by: of all rows of a kind, each once; and with those of all
/// intervals.
inline constexpr std::size_t row_key_bytes = 8 * mega, interval_key_bytes = 32 * mega;
/// Bytes of a path (PATH_MAX), and of a name in one (NAME_MAX).
inline constexpr std::size_t path_bytes = 4096, name_bytes = 255;

/// Values and depth of JSON: a recording's own lines, fleet.json, the lists of container runtimes. A header of a host
/// with a thousand modules has 10,000 values and is 3 deep; fleet.json has 7 values for each host.
inline constexpr std::size_t json_depth = 64, json_values = 200'000, json_bytes = 16 * mega;

/// Declarations of a recording. A measure is a stage or a value: each takes 140 kB as soon as there is one record.
/// stapgen's own recipes have up to 22 fields and 13 measures.
inline constexpr std::size_t fields = 256, measures = 64, kinds_of_records = 64;
/// All recordings in one input together.
inline constexpr std::size_t measures_in_input = 192;
/// Counts in a `tick` or `end` line.
inline constexpr std::size_t counts = 1000;
/// Stages of all directions together (texts of the field `way`); further directions are "other". Each takes up to 70
/// kB.
inline constexpr std::size_t direction_stages = 256;
/// Histograms of all groups together, half a kB each and half a kB for each doubling in it: 512 groups of 16 measures.
inline constexpr std::size_t group_histograms = 8192;

/// Bytes of a text that is held whole: symbols, modules, a recipe, a list of hosts. /proc/kallsyms with thousands of
/// modules is some 20 MB.
inline constexpr std::size_t kernel_text_bytes = 256 * mega;
/// A recipe.toml, script.stp or config.toml; and how deep tables are in it.
inline constexpr std::size_t recipe_bytes = mega, toml_depth = 16;
/// A list of hosts.
inline constexpr std::size_t hosts_bytes = mega, hosts = 10'000;
/// Bytes from a host of a fleet: an answer (facts are 2 KiB), a module that it compiled (300 KiB, with --all-modules 13
/// MiB), stderr while it measures (a line a second, and what goes wrong), its packed recording (2 MB a minute are
/// usual; 100,000 packets a second some 2 MB/s). The modules of all hosts together, which are held until they are sent:
/// those of 250 kernels.
inline constexpr std::size_t host_answer_bytes = 64 << 10U, host_module_bytes = 16 * mega,
                             hosts_module_bytes = 128 * mega;
constexpr std::size_t host_stderr_bytes(std::size_t seconds) {
    return mega + (seconds << 10U);
}
constexpr std::size_t host_recording_bytes(std::size_t seconds) {
    return 16 * mega + seconds * 4 * mega;
}

/// A vmlinux with debug information, unpacked; and a kernel in its image.
inline constexpr std::size_t elf_bytes = 2048 * mega, kernel_image_bytes = 1024 * mega;
/// A limit that grows with the bytes that were read of an input.
struct Allowance {
    std::uint64_t free, for_each;
    [[nodiscard]] constexpr std::uint64_t of(std::uint64_t read) const { return free + for_each * read; }
};
/// Bytes that packed data unpacks to, all layers and members added up. Records are packed to a fifth or a twentieth,
/// symbols to a tenth, a kernel to a fourth: a recording is read line by line, the others are held.
inline constexpr Allowance unpacked_bytes{16 * mega, 256}, held_bytes{4 * mega, 24};
/// Limits of an archive: bytes kept of all of its files; bytes copied out of it, symbols and recordings; files;
/// archives in archives.
inline constexpr Allowance copied_bytes{32 * mega, 8};
inline constexpr std::size_t kept_bytes = 32 * mega, members = 1'000'000, archive_depth = 3;
/// Time of a CPU, in ns, for what a user has from others, archives and recordings of hosts: 5 s, and 1 s for each MiB.
/// To sum up a MiB of packed records takes a fourth of a second. What becomes of each record may take longer.
inline constexpr Allowance cpu_ns{5'000'000'000, 1'000'000'000 / mega}, any_time{UINT64_MAX, 0};
/// Memory that unpacking may take: `xz -9` needs 65 MB, zstd's usual levels 8 MB; Debian 13 packs its kernel by `zstd
/// --ultra -22`, with a window of 2^27 bytes.
inline constexpr std::size_t unpacker_bytes = 80 * mega;
inline constexpr int zstd_window_bits = 27;

}  // namespace stapgen::base::limits
