// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/files/symbol_table.h"
#include "symbols/kaslr/drop_functions.h"

/// At boot a kernel moves itself by the KASLR offset. A log has addresses of the moved kernel, a System.map those of
/// the linked one, and the difference is all that is missing between an address and its name. Where no marker says it,
/// it is inferred from drops alone:
///
/// A drop's address lies in one of a few hundred functions that can drop packets, out of some fifty thousand. An offset
/// is possible only if it puts every address of the log into one of those functions. x86-64 has about five hundred
/// offsets to choose from. One address leaves some of them, each further address leaves the fewer, and with ten
/// places the right one is alone. It is taken only where it is the only one, and where fewer than one log of a thousand
/// would leave a wrong one alone by chance. Else the finding is refused with its numbers: a wrong offset names every
/// address wrongly, and each name looks right.
namespace stapgen::symbols {

enum class Architecture { x86_64, arm64, other };

/// Whether the kernel of this table can be moved at boot: it has dump_kernel_offset (Linux 3.14 and later on x86, 4.6
/// on arm64; RHEL 7), or kaslr_init (arm64 since 6.2, where the former is inlined). Without them the KASLR offset is 0
/// for sure.
bool has_kaslr(const SymbolTable& table);

/// The architecture of a table's addresses: x86-64 kernels are linked at 0xffffffff80000000 and above,
/// arm64 ones lower in the upper half.
Architecture architecture_of(const SymbolTable& table);

/// Whether the text of an x86-64 kernel lies elsewhere than all distributions link it: KASLR has moved it.
bool is_moved(const SymbolTable& table);

/// By multiples of this x86-64 kernels are moved: CONFIG_PHYSICAL_ALIGN is 2 MiB at least (arch/x86/Kconfig).
inline constexpr std::int64_t x86_alignment = 0x200000;

/// An address of a running kernel as its own file has it.
inline std::uint64_t linked_address(std::uint64_t address, std::int64_t kaslr_offset) {
    return address - static_cast<std::uint64_t>(kaslr_offset);
}

/// By how much each marker that both have is higher in a running kernel than in its table: all by the KASLR offset, or
/// the two are of different kernels.
struct MarkerDifference {
    std::string_view name;
    std::int64_t bytes = 0;
};
std::vector<MarkerDifference> marker_differences(const Markers& running, const Markers& map);

/// The KASLR offset by the markers of both. Error (bad_input): they share no marker, or are of different kernels.
base::Result<std::int64_t> kaslr_offset_between(const SymbolTable& running, const SymbolTable& map);

/// The KASLR offsets that the kernel of a table could have chosen at boot, those of no choice (0) included.
class PossibleKaslrOffsets {
  public:
    explicit PossibleKaslrOffsets(const SymbolTable& table);
    [[nodiscard]] bool contains(std::int64_t kaslr_offset) const {
        return kaslr_offset == 0 || (kaslr_offset % alignment_ == 0 && kaslr_offset >= begin_ && kaslr_offset < end_);
    }

  private:
    std::int64_t alignment_ = 1, begin_ = 0, end_ = 0;
};

/// Where one is taken, no more wrong KASLR offsets are expected by chance.
inline constexpr double max_by_chance = 0.001;

/// The KASLR offset by the addresses of a log.
struct KaslrFinding {
    std::optional<std::int64_t> kaslr_offset;  ///< nothing: refused
    std::vector<std::int64_t> candidates;      ///< KASLR offsets under which all addresses fit; at most 20 are kept
    std::size_t candidate_count = 0;
    std::size_t possible = 0;       ///< KASLR offsets that the architecture allows and that keep an address in the text
    std::size_t addresses = 0;      ///< different ones in the log that can be the kernel's
    std::size_t in_modules = 0;     ///< others of the upper half: no KASLR offset puts them into the text
    std::size_t functions = 0;      ///< how many it was compared with
    double expected_by_chance = 0;  ///< how many wrong KASLR offsets would fit this number of addresses
    std::optional<std::int64_t> nearest;  ///< where none fits: the only one under which all addresses but one do
    std::uint64_t miss = 0;               ///< that one, as it stands in the log
    /// One sentence with these numbers, for the user; where refused: why.
    std::string explanation;
};

/// Explains the rest of a finding.
std::string explain(const KaslrFinding& finding);

/// "0x1c000000", with a sign where it is below 0.
std::string hexadecimal(std::int64_t kaslr_offset);

/// Counts the KASLR offsets under which each of `addresses` that lies in the kernel's text is in one of `functions`.
/// Found is what is the only one, and would be so by chance in fewer than one log of a thousand, with min_by_functions
/// addresses at least. `addresses` are return addresses as they stand in the log, in any order, repeated or not.
/// `same_build`: the table is known to be of the kernel that made the log (build-id), so being the only one is enough.
KaslrFinding infer_kaslr_offset(std::span<const std::uint64_t> addresses, const DropFunctions& functions,
                                const SymbolTable& table, bool same_build);

/// Where drops lie in the kernel of a table. Each address counts once.
struct DropFit {
    std::size_t known = 0;         ///< where a kernel is known to drop packets
    std::size_t others = 0;        ///< elsewhere in its text
    std::size_t outside = 0;       ///< outside its text, where nothing else is
    std::uint64_t unexpected = 0;  ///< the lowest that is not known, as it stands in the log
    [[nodiscard]] std::size_t unknown() const { return others + outside; }
    [[nodiscard]] std::size_t all() const { return known + unknown(); }
};
/// `addresses` are return addresses of drops, as they stand in the log; those of modules are passed over.
DropFit fit_of(std::span<const std::uint64_t> addresses, const DropFunctions& functions, const SymbolTable& table,
               std::int64_t kaslr_offset);

/// A map is of the build that made as many known places and no other. The functions of a neighbouring build lie a
/// little aside: of 11,200 logs of places that are common ones, drawn from seven builds of Linux 6.12, the map of
/// another build fits none with ten places, 5 with eight, 12 with six and 121 with three.
inline constexpr std::size_t min_by_functions = 10;

}  // namespace stapgen::symbols
