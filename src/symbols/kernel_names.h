#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/drop_reasons.h"
#include "symbols/slide.h"
#include "symbols/source_lines.h"
#include "symbols/symbol_table.h"

namespace stapgen::symbols {

struct LoadedModule {
    std::string name;
    std::optional<std::uint64_t> base;  ///< nothing where it is hidden
    std::uint64_t size = 0;             ///< bytes
};

/// What a user has of the kernel that made the addresses.
struct NameSources {
    /// Told apart by what is in them: System.map, a copy of /proc/kallsyms, vmlinux, vmlinuz, a module's file, a folder
    /// with modules' files.
    std::vector<std::filesystem::path> files;
    std::optional<std::filesystem::path> modules;  ///< a copy of /proc/modules
    std::optional<std::int64_t> slide;
    std::string release;  ///< as typed; empty: not told
};

/// What the log itself says of its kernel: from the first line of a recording.
struct LogKernel {
    std::string release, build_id;
    std::optional<std::uint64_t> text, stext, etext;
    std::vector<LoadedModule> modules;
};

/// Where an address without a name is.
struct NearModule {
    std::string_view name;
    std::int64_t offset = 0;  ///< from the module's base
    std::uint64_t size = 0;
    [[nodiscard]] bool inside() const { return offset >= 0 && static_cast<std::uint64_t>(offset) < size; }
};

struct AddressName {
    std::optional<Symbol> symbol;
    std::optional<NearModule> near;  ///< where there is no symbol and the list of modules is known
};

/// Names for the addresses of one kernel. Sources are asked in this order: copies of /proc/kallsyms of the boot that
/// made the log (modules included), the kernel's own table moved by the slide, modules' files at the bases of the list
/// of modules.
class KernelNames {
  public:
    /// Reads the sources and compares them with each other and with the log. Errors (bad_input), each with its remedy:
    /// a file cannot be read or is none of these kinds; one is of another kernel than the log.
    static base::Result<KernelNames> open(const NameSources& sources, const LogKernel& log);
    /// The kernel that runs here. Errors: cannot_here.
    static base::Result<KernelNames> of_this_machine();
    KernelNames(KernelNames&&) noexcept;
    KernelNames& operator=(KernelNames&&) noexcept;
    ~KernelNames();

    [[nodiscard]] bool slide_known() const;
    /// Infers the slide from drop sites' return addresses, where it is not known. Afterwards it is, or find() answers
    /// nothing for the kernel's own code.
    const SlideFinding& infer(std::span<const std::uint64_t> drop_addresses);
    /// What a user should know of the sources: which are used, what is the slide and how it is known, what does not
    /// fit. For stderr.
    [[nodiscard]] const std::vector<std::string>& notes() const;

    [[nodiscard]] AddressName find(std::uint64_t address, AddressKind kind) const;
    /// From a vmlinux with DWARF. Empty where there is none.
    [[nodiscard]] std::vector<SourceFrame> source(std::uint64_t address, AddressKind kind) const;
    /// Of a 64-bit kernel 16, else 8.
    [[nodiscard]] int address_digits() const;

  private:
    struct State;
    explicit KernelNames(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// "icmp_rcv+0x12/0x350", "module or unknown", "module or unknown (nf_tables+0x1f3/0x5d000)", "module or unknown (0x300
/// behind nf_tables)".
std::string to_string(const AddressName& name);

/// Copy of /proc/modules: `NAME SIZE REFERENCES USERS STATE ADDRESS [FLAGS]`. Error (bad_input): with line and column.
base::Result<std::vector<LoadedModule>> parse_modules(std::string_view text, std::string_view origin);

}  // namespace stapgen::symbols
