// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "base/source.h"
#include "base/text.h"
#include "symbols/debuginfod.h"
#include "symbols/files/symbol_text.h"

namespace stapgen::symbols {

namespace {

constexpr const char* source_hint =
    "--map takes System.map, a copy of /proc/kallsyms, vmlinux or vmlinuz of the kernel with these addresses";

base::Result<void> compare_with_log(const SourceFiles& files, const LogKernel& log, const NameSources& sources) {
    if (!files.image) return {};
    const auto& id = files.image->build_id();
    const bool have_ids = !id.empty() && !log.build_id.empty();
    if (have_ids && id != log.build_id) {
        return base::bad_input(fmt::format("{} is of another kernel than the log: its build-id is {}, the log's {}",
                                           files.image_file.string(), id, log.build_id),
                               fmt::format("give the vmlinux of {}", log.release));
    }
    const auto& table = files.map ? files.map : files.boot;
    const auto& of_log = sources.release.empty() ? log.release : sources.release;
    const bool by_table = of_log.empty() && table && table->file != files.image_file;
    const auto wanted = by_table ? release_in_name(table->file) : of_log;
    const auto& release = files.image->release();
    if (have_ids || release.empty() || wanted.empty()) return {};
    if (is_same_release(release, wanted) == SameRelease::no) {
        return base::bad_input(fmt::format("{} is Linux {}, {} is of {}", files.image_file.string(), release,
                                           by_table ? table->file.string() : "the log", wanted),
                               fmt::format("give the vmlinux of {}", wanted));
    }
    return {};
}

base::Result<std::vector<base::LoadedModule>> loaded_modules(const NameSources& sources, const LogKernel& log) {
    if (!sources.modules) return log.modules;
    auto loaded =
        base::read_unpacked(*sources.modules, base::limits::kernel_text_bytes).and_then([&](const std::string& text) {
            return base::parse_loaded_modules(text, sources.modules->string());
        });
    if (!loaded || loaded->empty()) return loaded;
    if (std::ranges::any_of(*loaded, [](const auto& module) { return module.base.has_value(); })) return loaded;
    return base::bad_input(fmt::format("{} has no addresses: all are zero", sources.modules->string()),
                           "copy /proc/modules as root");
}

base::Result<std::int64_t> kaslr_offset_from_log(const TableFile& table, const LogKernel& log) {
    const Markers running{log.text, log.stext, log.etext, {}, {}};
    const auto differences = marker_differences(running, table.table.markers());
    if (differences.empty()) {
        return base::bad_input(fmt::format("{} has neither _text nor _stext", table.file.string()),
                               "give the whole table, not an excerpt, or --kaslr-offset");
    }
    const auto kaslr_offset = differences.front().bytes;
    if (std::ranges::all_of(differences, [&](const auto& marker) { return marker.bytes == kaslr_offset; }))
        return kaslr_offset;
    return base::bad_input(
        fmt::format("{} is of another kernel than the log: the length of the kernel text differs", table.file.string()),
        log.release.empty() ? std::string(source_hint) : fmt::format("give that of Linux {}", log.release));
}

}  // namespace

base::Result<KernelNames> KernelNames::open(const NameSources& sources, const LogKernel& log) {
    auto files = read_source_files(sources.files);
    STAPGEN_TRY(files);
    STAPGEN_TRY(compare_with_log(*files, log, sources));

    const auto& build_id = files->image ? files->image->build_id() : log.build_id;
    if (!files->map && !files->boot && !build_id.empty() && sources.fetch) {
        STAPGEN_LET(const auto found, debuginfo_of(build_id));
        auto all = sources.files;
        std::erase(all, files->image_file);
        all.push_back(found);
        files = read_source_files(all);
        STAPGEN_TRY(files);
    }
    if (!files->map && !files->boot) {
        return base::bad_input(
            files->image ? fmt::format("{} has no symbols", files->image_file.string()) : "nothing to take names from",
            files->image ? "also give its System.map or a copy of /proc/kallsyms, with a second --map" : source_hint);
    }

    KernelNames names;
    names.log_release_ = names.release_ = !sources.release.empty() ? sources.release : log.release;
    if (names.release_.empty() && files->image) names.release_ = files->image->release();
    if (names.release_.empty()) names.release_ = release_in_name((files->map ? files->map : files->boot)->file);
    const bool same_build = files->image && !log.build_id.empty() && files->image->build_id() == log.build_id;

    STAPGEN_LET(auto loaded, loaded_modules(sources, log));
    names.modules_ = {std::move(loaded), std::move(files->modules), std::move(files->module_folders), names.release_};
    names.files_ = *std::move(files);
    names.proven_ = same_build && names.table().file == names.files_.image_file;
    names.compare_release();

    const auto& [table, file] = names.table();
    if (table.is_32_bit()) {
        names.notes_.push_back(
            fmt::format("{} is of a 32-bit kernel: addresses of a 64-bit one have no names in it", file.string()));
    }
    STAPGEN_TRY(names.look_for_kaslr_offset(sources, log));
    STAPGEN_TRY(expect_whole(table, file.string()));
    return names;
}

base::Result<void> KernelNames::look_for_kaslr_offset(const NameSources& sources, const LogKernel& log) {
    if (sources.kaslr_offset) {
        if (architecture_of(table().table) == Architecture::x86_64 && *sources.kaslr_offset % x86_alignment != 0) {
            return base::bad_input(
                fmt::format("--kaslr-offset {}: KASLR moves an x86-64 kernel by multiples of {:#x} (2 MiB)",
                            hexadecimal(*sources.kaslr_offset), x86_alignment),
                "give _stext of /proc/kallsyms minus _stext of the map, for example 0x1c000000");
        }
        kaslr_offset_ = sources.kaslr_offset;
    } else if (files_.boot && files_.map) {
        STAPGEN_LET(const auto difference, kaslr_offset_between(files_.boot->table, files_.map->table));
        kaslr_offset_ = difference;
        notes_.push_back(fmt::format("KASLR offset {}: {} against {}", hexadecimal(*kaslr_offset_),
                                     files_.boot->file.string(), files_.map->file.string()));
    } else if (log.text || log.stext) {
        STAPGEN_LET(const auto difference, kaslr_offset_from_log(table(), log));
        kaslr_offset_ = difference;
        proven_ = true;
        if (*kaslr_offset_ != 0)
            notes_.push_back(fmt::format("KASLR offset {}: from the recording", hexadecimal(*kaslr_offset_)));
    } else if (files_.boot) {
        kaslr_offset_ = 0;
        kaslr_offset_is_assumed_ = true;
    } else if (!has_kaslr(table().table)) {
        kaslr_offset_ = 0;
    }
    return {};
}

base::Result<KernelNames> KernelNames::of_this_machine(const std::filesystem::path& kallsyms,
                                                       const std::filesystem::path& modules) {
    auto table = SymbolTable::read(kallsyms);
    if (!table) return base::cannot_here(table.error().what, table.error().hint);
    KernelNames names;
    names.files_.boot = TableFile{*std::move(table), kallsyms};
    auto loaded = base::read_file(modules).and_then(
        [&](const std::string& text) { return base::parse_loaded_modules(text, modules.string()); });
    names.modules_ = {std::move(loaded).value_or(std::vector<base::LoadedModule>{}), {}, {}, {}};
    names.kaslr_offset_ = 0;
    names.proven_ = true;
    return names;
}

void KernelNames::compare_release() {
    for (const auto* table : {&files_.map, &files_.boot}) {
        if (!*table || log_release_.empty()) continue;
        const auto& file = (*table)->file;
        const auto named = file == files_.image_file ? files_.image->release() : release_in_name(file);
        const auto same = named.empty() ? SameRelease::unknown : is_same_release(named, log_release_);
        same_release_ = same_release_ || same == SameRelease::yes;
        if (same != SameRelease::no) continue;
        contradiction_ =
            fmt::format("{} is of Linux {} by its name, the log is of {}", file.string(), named, log_release_);
    }
}

void KernelNames::set_log_release(const std::string& release) {
    if (!log_release_.empty() || release.empty()) return;
    log_release_ = release_ = release;
    compare_release();
}

base::Result<void> KernelNames::check_names(std::span<const NamedAddress> named) {
    const auto known = kaslr_offset_is_assumed_ ? std::nullopt : kaslr_offset_;
    const auto check = symbols::check_names(named, table().table, known);
    const auto compared = check.agreeing + check.contradicting;
    if (check.contradicting > 0) {
        return base::bad_input(
            fmt::format("{} is of another kernel than the log: {} of {} names that the log has beside an address are "
                        "elsewhere in it; {}",
                        table().file.string(), check.contradicting, compared, check.contradiction),
            "give the one of the build that made the log; without --map the log's own names are shown");
    }
    // That a place is in a function of that name says less than where in it.
    proven_ = proven_ || check.exact > 0 || check.agreeing >= min_by_functions;
    if (!check.other_size.empty()) {
        proven_ = false;
        contradiction_ =
            fmt::format("{} is of another build than the log: {}", table().file.string(), check.other_size);
    }
    if (check.exact > 0 && !known) {
        kaslr_offset_ = check.kaslr_offset;
        kaslr_offset_is_assumed_ = false;
        notes_.push_back(fmt::format(
            "KASLR offset {}: {} of the log beside an address {} so", hexadecimal(*kaslr_offset_),
            check.exact == 1 ? "the name" : fmt::format("{} names", check.exact), check.exact == 1 ? "says" : "say"));
    }
    return {};
}

const DropFunctions& KernelNames::drop_functions() {
    if (!drop_functions_) drop_functions_.emplace(table().table);
    return *drop_functions_;
}

KaslrFinding KernelNames::infer(std::span<const std::uint64_t> drop_addresses) {
    KaslrFinding finding;
    finding.kaslr_offset = kaslr_offset_;
    if (kaslr_offset_ && !kaslr_offset_is_assumed_) return finding;

    const auto& [table, file] = this->table();
    if (kaslr_offset_is_assumed_) {
        const auto fit = fit_of(drop_addresses, drop_functions(), table, 0);
        if (fit.outside == 0 && fit.known >= fit.others) return finding;
    }
    finding = infer_kaslr_offset(drop_addresses, drop_functions(), table, proven_);
    if (kaslr_offset_is_assumed_) {
        notes_.push_back(
            fmt::format("{} is of another boot: with it, these addresses are not where packets are dropped (if it is "
                        "the right one: --kaslr-offset 0)",
                        file.string()));
    }
    kaslr_offset_ = finding.kaslr_offset;
    kaslr_offset_is_assumed_ = false;
    if (finding.kaslr_offset) {
        const bool is_known_build = std::exchange(proven_, true);
        notes_.push_back(
            finding.explanation +
            (is_known_build ? "" : "; the names are right only if the map is of exactly the build that made the log"));
    }
    return finding;
}

void KernelNames::set_kaslr_offset(std::int64_t kaslr_offset, const std::string& how) {
    kaslr_offset_ = kaslr_offset;
    kaslr_offset_is_assumed_ = false;
    notes_.push_back(fmt::format("KASLR offset {}: {}", hexadecimal(kaslr_offset), how));
}

std::vector<std::string> KernelNames::check(std::span<const std::uint64_t> drop_addresses, bool more_may_come) {
    std::vector<std::string> said;
    if (proven_ || !kaslr_offset_) return said;
    const auto& [table, file] = this->table();
    DropFit fit;
    if (more_may_come) doubt_ = Doubt::other_places;
    if (!drop_addresses.empty() || more_may_come) {
        fit = fit_of(drop_addresses, drop_functions(), table, *kaslr_offset_);
        // KASLR has chosen one of some 500 places for a kernel that was moved.
        const auto enough = is_moved(table) ? 2 : min_by_functions;
        proven_ = fit.unknown() == 0 && fit.known >= enough;
    }
    if (fit.unknown() > 0) {
        doubt_ = fit.unknown() >= fit.known && !more_may_come ? Doubt::all : Doubt::other_places;
        const auto unexpected = table.find(fit.unexpected, {AddressKind::drop_site, *kaslr_offset_});
        said.push_back(
            fmt::format("by {}, {} of {} drop places {} where no kernel is known to drop packets ({}): it may be of "
                        "another build; {} "
                        "have a ?",
                        file.string(), fit.unknown(), fit.all(), fit.unknown() == 1 ? "is" : "are",
                        unexpected ? fmt::format("{}()", unexpected->name) : fmt::format("{:#x}", fit.unexpected),
                        doubt_ == Doubt::all ? "all names" : "such names"));
    }
    if (!contradiction_.empty()) {
        doubt_ = Doubt::all;
        said.push_back(fmt::format("{}; all names have a ?", contradiction_));
    } else if (said.empty() && !proven_ && !same_release_) {
        said.push_back(fmt::format(
            "nothing shows that {} is of the {} with these addresses{}: names are right only if it is{}", file.string(),
            is_moved(table) ? "boot" : "build",
            log_release_.empty() ? "" : fmt::format(" (the log is of Linux {})", log_release_),
            release_in_name(file).empty() ? "" : "; -r RELEASE compares its name with what uname -r says there"));
    }
    return said;
}

bool KernelNames::is_doubtful(std::uint64_t address, std::string_view name, AddressKind kind) const {
    return doubt_ == Doubt::all || (doubt_ == Doubt::other_places && kind == AddressKind::drop_site &&
                                    !drop_functions_->may_contain(linked_address(address, *kaslr_offset_), name));
}

AddressName KernelNames::find(std::uint64_t address, AddressKind kind) const {
    AddressName name;
    if (kaslr_offset_) name.symbol = table().table.find(address, {kind, *kaslr_offset_});
    if (name.symbol && !name.symbol->module) name.symbol->doubtful = is_doubtful(address, name.symbol->name, kind);
    if (!name.symbol && files_.boot && files_.map) {
        name.symbol = files_.boot->table.find(address, {kind, 0});
        if (name.symbol && !name.symbol->module) name.symbol.reset();
    }
    if (!name.symbol) name.symbol = modules_.find(address, kind);
    if (name.symbol) return name;
    if (const auto* module = modules_.nearest(address)) {
        name.near = NearModule{module->name, static_cast<std::int64_t>(address - *module->base), module->size};
    }
    return name;
}

void KernelNames::look_ahead(std::span<const std::uint64_t> addresses) const {
    if (kaslr_offset_) table().table.look_ahead(addresses, *kaslr_offset_);
}

base::Result<void> KernelNames::open_lines() {
    const auto& file = files_.image_file;
    if (file.empty()) {
        return base::bad_input("source lines need the DWARF of a vmlinux, and none is given",
                               "give a vmlinux with DWARF as --map; Debian's is in linux-image-RELEASE-dbg");
    }
    return SourceLines::open(file).map([this](SourceLines&& lines) { lines_ = std::move(lines); });
}

std::vector<SourceFrame> KernelNames::source(std::uint64_t address, AddressKind kind) const {
    if (!lines_ || !kaslr_offset_) return {};
    const auto name = find(address, kind);
    const bool is_start = kind == AddressKind::drop_site && name.symbol && name.symbol->offset == 0;
    const auto linked = linked_address(address, *kaslr_offset_);
    return lines_->at(kind == AddressKind::exact || is_start ? linked : linked - 1);
}

std::optional<DropReasons> KernelNames::drop_reasons() const {
    if (files_.image) {
        if (auto reasons = DropReasons::from_btf(files_.image->btf())) return *std::move(reasons);
    }
    if (release_.empty()) return std::nullopt;
    auto reasons = DropReasons::of_release(release_);
    if (!reasons) return std::nullopt;
    return *std::move(reasons);
}

std::string to_string(const AddressName& name) {
    constexpr std::string_view unknown = "module or unknown";
    if (name.symbol) return to_string(*name.symbol);
    if (!name.near) return std::string(unknown);
    const auto& [module, offset, size] = *name.near;
    if (name.near->inside()) return fmt::format("{} ({}+{:#x}/{:#x})", unknown, module, offset, size);
    const auto distance = offset < 0 ? -offset : offset - static_cast<std::int64_t>(size);
    return fmt::format("{} ({:#x} {} {})", unknown, distance, offset < 0 ? "before" : "behind", module);
}

}  // namespace stapgen::symbols
