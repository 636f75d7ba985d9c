// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/kernel.h"
#include "base/result.h"
#include "symbols/drop_reasons.h"
#include "symbols/files/module_file.h"
#include "symbols/files/symbol_table.h"
#include "symbols/kaslr/kaslr_offset.h"
#include "symbols/kaslr/name_check.h"
#include "symbols/log_release.h"
#include "symbols/source_files.h"
#include "symbols/source_lines.h"

namespace stapgen::symbols {

/// Sources of names for the kernel that made the addresses.
struct NameSources {
    /// Recognised by their content: System.map, a copy of /proc/kallsyms, vmlinux, vmlinuz, a module's file, a folder
    /// with modules' files.
    std::vector<std::filesystem::path> files;
    std::optional<std::filesystem::path> modules;  ///< a copy of /proc/modules
    std::optional<std::int64_t> kaslr_offset;
    std::string release;  ///< of the kernel; empty: unknown
    /// Missing files may be fetched by build-id from the servers of $DEBUGINFOD_URLS: the user's word, never an
    /// input's.
    bool fetch = false;

    /// Nothing is given.
    [[nodiscard]] bool empty() const { return files.empty() && !modules && !kaslr_offset && release.empty(); }
};

/// The kernel that the log itself names: the first line of a recording does.
using LogKernel = base::KernelIdentity;

/// Where an address without a name is.
struct NearModule {
    std::string_view name;
    std::int64_t offset = 0;  ///< from the module's base
    std::uint64_t size = 0;   ///< bytes of the module
    [[nodiscard]] bool inside() const { return offset >= 0 && static_cast<std::uint64_t>(offset) < size; }
};

/// The name of an address. Its views live as long as the KernelNames.
struct AddressName {
    std::optional<Symbol> symbol;
    std::optional<NearModule> near;  ///< where there is no symbol and a module that is known to be loaded is near
};

/// "icmp_rcv+0x12/0x350", "module or unknown", "module or unknown (nf_tables+0x1f3/0x5d000)", "module or unknown (0x300
/// behind nf_tables)".
std::string to_string(const AddressName& name);

/// Names for the addresses of one kernel. Sources are asked in this order: a copy of /proc/kallsyms of the boot that
/// made the log (modules included); the kernel's own table, moved by the KASLR offset; modules' files, at the bases
/// that the list of modules gives.
///
/// The KASLR offset is, in this order: the one given; the difference between a copy of kallsyms and the map; between
/// what a recording says of its kernel and the map; 0 for a kernel that cannot be moved; 0 for a copy of kallsyms, as
/// long as no drop contradicts that; the one that follows from the log's own names; inferred from the places of drops.
/// See KaslrFinding.
class KernelNames {
  public:
    /// Reads the sources and compares them with each other and with the log. Errors (bad_input), each with its remedy:
    /// a file cannot be read or is none of these kinds; one is of another kernel than the log; there is none; the table
    /// of the kernel's own symbols is an excerpt.
    static base::Result<KernelNames> open(const NameSources& sources, const LogKernel& log);
    /// The kernel that runs here. Errors: cannot_here.
    static base::Result<KernelNames> of_this_machine(const std::filesystem::path& kallsyms,
                                                     const std::filesystem::path& modules);

    /// Compares the table with what the machine of the log called its addresses, and takes the KASLR offset from that
    /// where it is not known. Error (bad_input): they contradict each other, so the table is of another kernel.
    base::Result<void> check_names(std::span<const NamedAddress> named);
    /// The log says that it is of this kernel; where the user has said so before, that stands.
    void set_log_release(const std::string& release);

    /// False: infer() has to be asked, and until it finds it no address of the kernel itself has a name.
    [[nodiscard]] bool kaslr_offset_known() const { return kaslr_offset_.has_value(); }
    /// Known from a copy of kallsyms alone, and not yet compared with drops: infer() does that.
    [[nodiscard]] bool kaslr_offset_is_assumed() const { return kaslr_offset_is_assumed_; }
    /// Makes the KASLR offset known from the return addresses of drops, or refuses; where it is assumed, that is
    /// checked. `KASLR offset` of the finding is what is in force.
    KaslrFinding infer(std::span<const std::uint64_t> drop_addresses);
    /// `how`: a sentence.
    void set_kaslr_offset(std::int64_t kaslr_offset, const std::string& how);
    /// Asks what speaks for the table once the KASLR offset is in force and the names of the log are checked: names
    /// beside addresses, a recording's own account of its kernel, the release, the return addresses of drops. What
    /// speaks against it, or that nothing speaks for it, is returned, a sentence each; find() marks the names that are
    /// in doubt. `more_may_come`: these are the first drops of a text that is still being written; the names of others
    /// do not depend on how many these are.
    std::vector<std::string> check(std::span<const std::uint64_t> drop_addresses, bool more_may_come = false);
    /// Enough speaks for the table; check() has nothing to say.
    [[nodiscard]] bool is_proven() const { return proven_; }
    /// Notes for the user on the sources: sentences, for stderr.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

    [[nodiscard]] AddressName find(std::uint64_t address, AddressKind kind) const;
    /// Before find() of some dozens of them: see SymbolTable.
    void look_ahead(std::span<const std::uint64_t> addresses) const;
    /// 16, of a 32-bit kernel 8.
    [[nodiscard]] int address_digits() const { return table().table.is_32_bit() ? 8 : 16; }

    /// To be called before source(). Errors: there is no file with DWARF among the sources (bad_input).
    base::Result<void> open_lines();
    /// Source lines of the kernel's own code. Empty where DWARF has nothing.
    [[nodiscard]] std::vector<SourceFrame> source(std::uint64_t address, AddressKind kind) const;

    /// The names of this kernel's drop reasons: from the BTF of a vmlinux or vmlinuz among the sources, else those of
    /// its release, which may be a guess. Nothing where not even that is known.
    [[nodiscard]] std::optional<DropReasons> drop_reasons() const;

  private:
    KernelNames() = default;
    /// The one that names of the kernel itself are taken from. Beside a map the copy of kallsyms may be an excerpt.
    [[nodiscard]] const TableFile& table() const { return files_.map ? *files_.map : *files_.boot; }
    base::Result<void> look_for_kaslr_offset(const NameSources& sources, const LogKernel& log);
    const DropFunctions& drop_functions();
    /// With the names of files; what they contradict is `contradiction_`.
    void compare_release();

    SourceFiles files_;
    ModuleNames modules_;
    std::string release_, log_release_;  ///< the latter without what files say
    enum class Doubt { none, other_places, all };
    [[nodiscard]] bool is_doubtful(std::uint64_t address, std::string_view name, AddressKind kind) const;

    bool proven_ = false;                          ///< the table is of the log's build
    bool same_release_ = false;                    ///< by its file's name
    std::string contradiction_;                    ///< what the log says against the table
    Doubt doubt_ = Doubt::none;                    ///< of drops that are no known places, or of all names
    std::optional<std::int64_t> kaslr_offset_;     ///< of table(), as far as it is known
    bool kaslr_offset_is_assumed_ = false;         ///< 0, for a copy of kallsyms
    std::optional<DropFunctions> drop_functions_;  ///< of table(), once they have been needed
    std::optional<SourceLines> lines_;
    std::vector<std::string> notes_;
};

}  // namespace stapgen::symbols
