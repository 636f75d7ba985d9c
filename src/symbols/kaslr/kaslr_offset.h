#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "symbols/files/kernel_image.h"
#include "symbols/files/symbol_table.h"
#include "symbols/kaslr/drop_sites.h"

namespace stapgen::symbols {

/// Whether the kernel of this table can be moved at boot: it has dump_kernel_offset (Linux 3.14 and later on x86, 4.6
/// on arm64; RHEL 7). Without it the KASLR offset is 0 for sure.
bool has_kaslr(const SymbolTable& table);

/// Of which architecture the addresses of a table are: x86-64 kernels are linked at 0xffffffff80000000 and above,
/// arm64 ones lower in the upper half.
Architecture architecture_of(const SymbolTable& table);

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

/// What the addresses of a log say about the KASLR offset.
struct KaslrFinding {
    std::optional<std::int64_t> kaslr_offset;  ///< nothing: refused
    std::vector<std::int64_t> candidates;      ///< KASLR offsets under which all addresses fit; at most 20 are kept
    std::size_t candidate_count = 0;
    std::size_t possible =
        0;  ///< KASLR offsets that the architecture could have chosen, that keep one address in the text
    std::size_t addresses = 0;      ///< different ones in the log that can be the kernel's
    std::size_t in_modules = 0;     ///< different ones that no KASLR offset puts into the kernel's text
    std::size_t sites = 0;          ///< how many places it was compared with
    bool exact = false;             ///< they were return addresses, not whole functions
    double expected_by_chance = 0;  ///< how many wrong KASLR offsets would fit so many such addresses
    /// One sentence with these numbers, for the user; where refused: why.
    std::string explanation;
};

/// "0x1c000000", with a sign where it is below 0.
std::string hexadecimal(std::int64_t kaslr_offset);

/// Counts the KASLR offsets under which each of `addresses` that lies in the kernel's text is a drop site. Found is
/// what is the only one, and would be so by chance in fewer than one log of a thousand; ten addresses at least, where
/// `sites` are whole functions. `addresses` are return addresses as they stand in the log, in any order, repeated or
/// not. `same_build`: image or table are known to be of the kernel that made the log (build-id), so being the only one
/// is enough.
KaslrFinding infer_kaslr_offset(std::span<const std::uint64_t> addresses, const DropSites& sites,
                                const SymbolTable& table, Architecture architecture, bool same_build);

}  // namespace stapgen::symbols
