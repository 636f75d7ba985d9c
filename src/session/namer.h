// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "decode/record.h"
#include "host/containers/owner_names.h"
#include "host/processes.h"
#include "kinds/measured.h"
#include "recording/facts.h"
#include "symbols/drop_reasons.h"
#include "symbols/kernel_names.h"
#include "symbols/user/process_names.h"

namespace stapgen::session {

/// The notes that have been reported: each is reported once.
using ReportedNotes = std::set<std::string>;

/// Names for the addresses and drop reasons of one kernel: of this machine's, or of that which a log is of.
class Namer {
  public:
    /// Names of this machine. They are read when first needed; what cannot be read is said once, on stderr, and leaves
    /// the numbers as they are.
    Namer() = default;
    /// Names of a log: those of its recording come first, then what the user gave.
    explicit Namer(symbols::NameSources sources) : sources_(std::move(sources)) {}

    /// Into the drops that have none, and into groups by namespace, cgroup and container. Where a log's KASLR offset is
    /// not known addresses stay, and it is said. Errors (bad_input), of a log only: see symbols::KernelNames.
    /// `release`: what a text that is no recording says of its kernel.
    base::Result<void> put_into(kinds::Measured& measured, const recording::RunFacts& facts,
                                const std::string& release = {});

    /// The symbol that an address of this machine lies in. Its views live as long as this.
    std::optional<symbols::Symbol> find(std::uint64_t address);
    /// All drop reasons of this machine that have a name; null where they cannot be read.
    const std::map<std::uint32_t, std::string>* reasons();

    /// Records with this header are about to come; they end.
    void look_at_owners(const decode::Header& header);
    /// A record of this machine, whose namespace, cgroup and container are to be named.
    void observe_owner(const decode::Record& record);
    /// A sample of a process of this machine, or a sleep for one of its futexes: addresses that are to be named.
    void observe_code(const decode::Record& record);
    /// What they are, as far as it is known now; none where there are no such records.
    std::vector<recording::CodeName> code_names();
    /// The names given so far; empty where records have no such field.
    recording::GroupNames group_names();

  private:
    const symbols::KernelNames* here();
    base::Result<void> put_of_log(kinds::Measured& measured, symbols::LogKernel log);

    symbols::user::ProcessNames processes_{host::processes_folder};
    std::optional<symbols::NameSources> sources_;  ///< nothing: this machine
    ReportedNotes reported_;
    std::set<std::string> unfetched_;  ///< build-ids that no server has
    bool read_symbols_ = false, read_reasons_ = false;
    std::optional<symbols::KernelNames> names_;
    std::optional<symbols::DropReasons> reasons_;
    std::optional<containers::OwnerNames> owners_;  ///< of records that have fields for it
};

/// Makes the KASLR offset known, inferred from these addresses of drops where that is needed. What a user should know
/// goes to stderr. Error (bad_input): it is not known.
base::Result<void> settle_kaslr_offset(symbols::KernelNames& names, std::span<const std::uint64_t> drop_addresses,
                                       ReportedNotes& reported);

/// Writes what a user should know of the sources to stderr.
void report_notes(const symbols::KernelNames& names, ReportedNotes& reported);
/// Prints what speaks against the table of names, or that nothing speaks for it: see KernelNames::check().
void report_check(symbols::KernelNames& names, std::span<const std::uint64_t> drop_addresses,
                  bool more_may_come = false);

}  // namespace stapgen::session
