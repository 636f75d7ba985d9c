#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "recording/facts.h"
#include "symbols/drop_reasons.h"
#include "symbols/kernel_names.h"

namespace stapgen::session {

/// Names of this machine's kernel for addresses and drop reasons. Read when first needed; what cannot be read
/// is said once, on stderr, and leaves the numbers as they are.
class Names {
  public:
    void put_into(analyze::Summary& summary);

    /// What a return address lies in. Its views live as long as this.
    std::optional<symbols::Symbol> find(std::uint64_t address);
    /// All drop reasons that have a name; null where they cannot be read.
    const std::map<std::uint32_t, std::string>* reasons();

  private:
    void read_symbols();
    void read_reasons();

    bool read_symbols_ = false, read_reasons_ = false;
    std::optional<symbols::KernelNames> names_;
    std::optional<symbols::DropReasons> reasons_;
};

/// Into the drops of a log that have none: names of addresses and of reasons, from what the user gave and what the
/// first line of the recording says (null: it is no recording). Where the KASLR offset cannot be told addresses stay,
/// and it is said. Errors (bad_input): see symbols::KernelNames.
base::Result<void> put_names(analyze::Summary& summary, const symbols::NameSources& sources,
                             const recording::Head* head);

/// Whether there is anything in it.
bool names_are_wanted(const symbols::NameSources& sources);

/// What a recording says of its kernel.
symbols::LogKernel kernel_of(const recording::Head& head);

/// The kernel's names, and its KASLR offset inferred from these addresses of drops where that is needed. What a user
/// should know goes to stderr. Error (bad_input): the KASLR offset cannot be told.
base::Result<void> settle_kaslr_offset(symbols::KernelNames& names, std::span<const std::uint64_t> drop_addresses);

/// Writes what a user should know of the sources to stderr, each sentence once.
void show_notes(const symbols::KernelNames& names);

}  // namespace stapgen::session
