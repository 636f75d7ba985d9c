// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/user/maps.h"
#include "symbols/user/perf_map.h"
#include "symbols/user/program_symbols.h"

namespace stapgen::symbols::user {

/// What an address of a process is. What is not known is empty.
struct UserName {
    std::string file;      ///< the last part of its path: "app", "libc.so.6"; "heap", "stack", "memory", "jit"
    std::string build_id;  ///< of that file
    std::optional<std::uint64_t> place;  ///< the address as the file has it
    std::string symbol;                  ///< demangled
    std::uint64_t offset = 0;            ///< from its beginning
    bool is_data = false;                ///< a variable
    bool is_after_call = false;          ///< a call precedes it: it may be a return address
};

/// Names for addresses of processes of this machine. A process may end at any time, so what is needed of it is taken
/// when an address of it is first met; files are read when a name is asked for. All that is read is the processes' own,
/// and untrusted: the numbers of processes, mappings, files and addresses have limits, and beyond them there is no
/// name.
class ProcessNames {
  public:
    /// `proc`: with a folder for each process.
    explicit ProcessNames(std::filesystem::path proc, std::filesystem::path debug = "/usr/lib/debug")
        : proc_(std::move(proc)), debug_(std::move(debug)) {}

    /// An address of a thread's or process's memory was met; passed over where as many were.
    void observe(std::int64_t tid, std::uint64_t address, std::size_t room = max_addresses);
    /// What it is; nothing if it was not met, or is in no mapping.
    std::optional<UserName> find(std::int64_t tid, std::uint64_t address);
    /// "cache_lock in app", "app+0x1234", "heap of app", "stack of app", "memory of app"; empty: not known. A process
    /// that is there is asked now.
    std::string name_of(std::int64_t tid, std::uint64_t address);

    /// All that were met, with what each is, in the order of their numbers.
    struct Met {
        std::int64_t tid = 0;
        std::uint64_t address = 0;
        UserName name;
    };
    std::vector<Met> all();

    static constexpr std::size_t max_processes = 1024, max_mappings = 262'144, max_files = 512, max_addresses = 8192,
                                 max_symbol_bytes = std::size_t{512} << 20U;

  private:
    struct File {
        std::optional<ProgramFile> bytes;
        std::filesystem::path root;  ///< of the process that has it
        std::optional<ProgramSymbols> symbols;
    };
    struct Process {
        std::vector<Mapping> mappings;
        int times = 0;         ///< they were read
        std::string identity;  ///< its beginning and its program: another process may have its number later
        std::string name;      ///< of its program
        PerfMap compiled;
        std::optional<std::chrono::steady_clock::time_point> compiled_at;  ///< when that was read last
    };
    /// Where an address is; `file` null: in memory of no file.
    struct Place {
        std::shared_ptr<File> file;
        std::string name;
        std::uint64_t from_mapping = 0;    ///< bytes from where the mapping begins
        std::uint64_t mapping_offset = 0;  ///< in the file
        bool executable = false;
    };

    struct Address {
        std::optional<Place> place;
        std::optional<UserName> name;  ///< once it was asked for, and if it stays
    };

    [[nodiscard]] std::filesystem::path of_process(std::int64_t tid) const;
    Process* process_of(std::int64_t tid);
    [[nodiscard]] std::string identity_of(std::int64_t tid) const;
    void read_mappings(Process& process, std::int64_t tid);
    std::shared_ptr<File> file_of(std::int64_t tid, const Mapping& mapping);
    std::optional<Place> place_of(std::int64_t tid, std::uint64_t address);
    const ProgramSymbols& symbols_of(File& file);
    [[nodiscard]] std::optional<std::string> compiled_text(std::int64_t tid) const;
    const PerfMap& compiled_by(Process& process, std::int64_t tid) const;
    UserName name_of(const Place& place, std::int64_t tid, std::uint64_t address);
    std::optional<UserName> name_of(Address& met, std::int64_t tid, std::uint64_t address);

    std::filesystem::path proc_, debug_;
    std::map<std::int64_t, Process> processes_;
    std::size_t mappings_ = 0, symbol_bytes_ = 0;
    std::map<std::pair<dev_t, ino_t>, std::shared_ptr<File>> files_;
    std::map<std::pair<std::int64_t, std::uint64_t>, Address> met_;
};

/// As ProcessNames::name_of() has it.
std::string text_of(const UserName& name, std::string_view program);

}  // namespace stapgen::symbols::user
