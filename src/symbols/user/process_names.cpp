// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/process_names.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/files.h"
#include "base/text.h"
#include "symbols/user/machine_code.h"

namespace stapgen::symbols::user {

namespace fs = std::filesystem;

namespace {

constexpr int how_to_open = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/// What a path names in the folder of another user: no link leads out of it.
std::optional<ProgramFile> open_in(const fs::path& root, const fs::path& path) {
    const base::Descriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) return std::nullopt;
    return ProgramFile::take(base::open_beneath(folder.get(), path.relative_path(), how_to_open));
}

/// A line of /proc/PID/status: "NSpid:\t123\t7".
std::optional<std::string> status_line(const std::string& status, std::string_view key) {
    for (const auto line : base::split(status, '\n'))
        if (line.starts_with(key)) return std::string(line.substr(key.size()));
    return std::nullopt;
}

}  // namespace

fs::path ProcessNames::of_process(std::int64_t tid) const {
    return proc_ / std::to_string(tid);
}

std::string ProcessNames::identity_of(std::int64_t tid) const {
    constexpr std::size_t bytes = 4096, started_at = 20;  // behind the name, which may have blanks: proc(5)
    const auto stat = base::read_file(of_process(tid) / "stat", bytes);
    std::error_code error;
    const auto program = fs::read_symlink(of_process(tid) / "exe", error);
    const auto words = base::split(stat ? std::string_view(*stat).substr(stat->rfind(')') + 1) : "", ' ');
    if (words.size() <= started_at || error) return {};
    return fmt::format("{} {}", words[started_at], program.string());
}

void ProcessNames::read_mappings(Process& process, std::int64_t tid) {
    constexpr std::size_t bytes = std::size_t{32} << 20U;
    ++process.times;
    auto text = base::read_file(of_process(tid) / "maps", bytes);
    // It has ended: what is known of it stays.
    if (!text || text->empty()) return;
    mappings_ -= process.mappings.size();
    process.mappings = parse_maps(*text, max_mappings - mappings_);
    mappings_ += process.mappings.size();
    std::error_code error;
    const auto program = fs::read_symlink(of_process(tid) / "exe", error);
    if (error) return;
    const Mapping mapping{.path = program.string()};
    process.name = mapping.name();
}

ProcessNames::Process* ProcessNames::process_of(std::int64_t tid) {
    const auto known = processes_.find(tid);
    if (known != processes_.end()) return &known->second;
    if (processes_.size() == max_processes) return nullptr;
    auto& process = processes_[tid];
    process.identity = identity_of(tid);
    read_mappings(process, tid);
    return &process;
}

std::shared_ptr<ProcessNames::File> ProcessNames::file_of(std::int64_t tid, const Mapping& mapping) {
    // The very file that is mapped, wherever it was moved and in whatever container it is; only root may follow that.
    const auto link = of_process(tid) / "map_files" / fmt::format("{:x}-{:x}", mapping.begin, mapping.end);
    auto bytes = ProgramFile::take(::open(link.c_str(), how_to_open));
    const auto root = of_process(tid) / "root";
    if (!bytes) {
        bytes = open_in(root, mapping.path);
        if (bytes && bytes->status().st_ino != mapping.inode) bytes.reset();
    }
    if (!bytes) return nullptr;
    const std::pair key(bytes->status().st_dev, bytes->status().st_ino);
    const auto known = files_.find(key);
    if (known != files_.end()) return known->second;
    if (files_.size() == max_files) return nullptr;
    return files_.emplace(key, std::make_shared<File>(File{std::move(bytes), root, {}})).first->second;
}

std::optional<ProcessNames::Place> ProcessNames::place_of(std::int64_t tid, std::uint64_t address) {
    constexpr int most_times = 1000;  // that the mappings of a process are read: it goes on to make some
    auto* process = process_of(tid);
    if (process == nullptr) return std::nullopt;
    // One that has ended has none.
    const auto identity = identity_of(tid);
    if (!identity.empty() && identity != process->identity) return std::nullopt;
    const auto* mapping = user::find(process->mappings, address);
    if (mapping == nullptr && process->times < most_times) {
        read_mappings(*process, tid);
        mapping = user::find(process->mappings, address);
    }
    if (mapping == nullptr) return std::nullopt;
    Place place;
    place.executable = mapping->executable;
    if (const auto* of = user::file_of(process->mappings, address)) {
        place.file = file_of(tid, *of);
        place.name = of->name();
        place.from_mapping = address - of->begin;
        place.mapping_offset = of->offset;
        return place;
    }
    if (mapping->path == "[heap]")
        place.name = "heap";
    else if (mapping->path.starts_with("[stack"))
        place.name = "stack";
    else if (mapping->path == "[vdso]")
        place.name = "vdso";
    else
        place.name = mapping->executable ? "jit" : "memory";
    return place;
}

void ProcessNames::observe(std::int64_t tid, std::uint64_t address, std::size_t room) {
    const std::pair key(tid, address);
    if (met_.size() >= room || met_.contains(key)) return;
    met_.emplace(key, Address{place_of(tid, address), {}});
}

const ProgramSymbols& ProcessNames::symbols_of(File& file) {
    if (file.symbols) return *file.symbols;
    const auto open_debug = [&](const std::string& build_id) -> std::optional<ProgramFile> {
        if (build_id.size() < 3) return std::nullopt;
        const auto path = fs::path(".build-id") / build_id.substr(0, 2) / (build_id.substr(2) + ".debug");
        if (auto debug = open_in(debug_, path)) return debug;
        return open_in(file.root, debug_ / path);
    };
    file.symbols = ProgramSymbols::read(*file.bytes, open_debug);
    if (file.symbols->size() > max_symbol_bytes - symbol_bytes_) file.symbols.emplace();
    symbol_bytes_ += file.symbols->size();
    return *file.symbols;
}

std::optional<std::string> ProcessNames::compiled_text(std::int64_t tid) const {
    constexpr std::size_t bytes = 1U << 16U;
    const auto status = base::read_file(of_process(tid) / "status", bytes);
    if (!status) return std::nullopt;
    const auto numbers = status_line(*status, "NSpid:"), users = status_line(*status, "Uid:");
    if (!numbers || !users) return std::nullopt;
    // Its number where it runs is the last one; of users the second is that by whom it is judged.
    const auto number = numbers->substr(numbers->rfind('\t') + 1);
    const auto words = base::split(*users, '\t');
    const auto user = base::to_unsigned(words.size() > 2 ? words[2] : "");
    const auto file = open_in(of_process(tid) / "root", fmt::format("tmp/perf-{}.map", number));
    // Anybody may put files there.
    if (!file || (file->status().st_uid != 0 && file->status().st_uid != user)) return std::nullopt;
    return file->read(0, std::min<std::uint64_t>(static_cast<std::uint64_t>(file->status().st_size), PerfMap::bytes));
}

const PerfMap& ProcessNames::compiled_by(Process& process, std::int64_t tid) const {
    // It grows while the program runs, and has megabytes.
    constexpr std::chrono::seconds pause{1};
    const auto now = std::chrono::steady_clock::now();
    if (process.compiled_at && now - *process.compiled_at < pause) return process.compiled;
    process.compiled_at = now;
    // Of one that has ended what was read stays.
    if (auto text = compiled_text(tid)) process.compiled = PerfMap(*std::move(text));
    return process.compiled;
}

UserName ProcessNames::name_of(const Place& place, std::int64_t tid, std::uint64_t address) {
    UserName name;
    name.file = place.name;
    if (!place.file) {
        const auto known = processes_.find(tid);
        if (place.name != "jit" || known == processes_.end()) return name;
        if (const auto found = compiled_by(known->second, tid).find(address)) name.symbol = demangled(*found);
        name.is_after_call = !name.symbol.empty();
        return name;
    }
    const auto& symbols = symbols_of(*place.file);
    name.build_id = symbols.build_id();
    const auto begin = symbols.address_of(place.mapping_offset, place.executable);
    if (!begin) return name;
    name.place = *begin + place.from_mapping;
    if (!symbols.has(*name.place)) {
        // Behind .bss, in the memory that a program gets from brk().
        name = UserName();
        name.file = "memory";
        return name;
    }
    if (place.executable) {
        const auto before = place.mapping_offset + place.from_mapping;
        if (before >= longest_call) {
            const auto code = place.file->bytes->read(before - longest_call, longest_call);
            name.is_after_call = code && ends_with_call(*code);
        }
    }
    if (const auto symbol = symbols.find(*name.place)) {
        name.symbol = demangled(symbol->name);
        name.offset = symbol->offset;
        name.is_data = symbol->is_data;
    }
    return name;
}

std::optional<UserName> ProcessNames::name_of(Address& met, std::int64_t tid, std::uint64_t address) {
    if (met.name || !met.place) return met.name;
    auto name = name_of(*met.place, tid, address);
    // Code that is compiled at run time may get one later.
    if (met.place->file) met.name = name;
    return name;
}

std::optional<UserName> ProcessNames::find(std::int64_t tid, std::uint64_t address) {
    const auto met = met_.find({tid, address});
    return met == met_.end() ? std::nullopt : name_of(met->second, tid, address);
}

std::string ProcessNames::name_of(std::int64_t tid, std::uint64_t address) {
    observe(tid, address);
    const auto name = find(tid, address);
    const auto process = processes_.find(tid);
    return name && process != processes_.end() ? text_of(*name, process->second.name) : std::string();
}

std::vector<ProcessNames::Met> ProcessNames::all() {
    std::vector<Met> all;
    for (auto& [key, met] : met_)
        if (auto name = name_of(met, key.first, key.second)) all.push_back({key.first, key.second, *std::move(name)});
    return all;
}

std::string text_of(const UserName& name, std::string_view program) {
    if (!name.symbol.empty()) return fmt::format("{} in {}", name.symbol, name.file);
    if (name.place) return fmt::format("{}+0x{:x}", name.file, *name.place);
    if (program.empty()) return name.file;
    return fmt::format("{} of {}", name.file, program);
}

}  // namespace stapgen::symbols::user
