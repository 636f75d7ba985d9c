// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/namer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyze/names.h"
#include "base/terminal.h"
#include "host/facts.h"
#include "session/code_names.h"
#include "table/merge.h"

namespace stapgen::session {

namespace {

/// Calls with each place of the kernel that may have a name: of drops, and frames of paths.
void for_each_place(kinds::Tables& tables, const auto& call) {
    table::change_each<table::Place>(tables, call);
    table::change_each<table::Path>(tables, [&](table::Path& path) { std::ranges::for_each(path, call); });
}

void put(const recording::RunFacts& facts, kinds::Tables& tables) {
    table::change_each<table::Reason>(tables, [&](table::Reason& reason) {
        const auto& names = facts.setup.drop_reasons;
        const auto known = names.find(reason.number);
        if (!reason.name && known != names.end()) reason.name = known->second;
    });
    std::map<std::uint64_t, const recording::AddressName*> names;
    for (const auto& name : facts.outcome.addresses)
        if (name.address) names.emplace(*name.address, &name);
    for_each_place(tables, [&](table::Place& place) {
        const auto found = place.address ? names.find(*place.address) : names.end();
        if (found == names.end()) return;
        const auto& name = *found->second;
        place.symbol = name.symbol;
        place.offset = name.offset;
        if (!name.module.empty()) place.module = name.module;
    });
}

/// The first of them that has it.
void put_owners(std::initializer_list<const recording::GroupNames*> all, kinds::Measured& measured) {
    const auto find = [&](const std::string& key) -> const std::string* {
        for (const auto* names : all) {
            if (const auto found = names->find(key); found != names->end()) return &found->second;
        }
        return nullptr;
    };
    analyze::name_groups(
        measured, [&](const table::Group& /*group*/, const table::GroupField& field) -> std::optional<std::string> {
            constexpr std::string_view cgroup = "cgroup";
            // The wait of a packet's reader: no thread is called so, as its number is behind its name.
            const auto* text = field.key == "by" ? std::get_if<std::string>(&field.value) : nullptr;
            if (text != nullptr && text->starts_with("cgroup:"))
                return containers::owner_name(cgroup, std::string_view(*text).substr(cgroup.size() + 1), find);
            if (!containers::is_owner_field(field.key) || std::holds_alternative<bool>(field.value))
                return std::nullopt;
            const auto* number = std::get_if<std::int64_t>(&field.value);
            return containers::owner_name(
                field.key, number != nullptr ? fmt::to_string(*number) : std::get<std::string>(field.value), find);
        });
}

bool has_owners(const decode::Schema& schema) {
    return std::ranges::any_of(schema.fields, [](const auto& field) { return containers::is_owner_field(field.name); });
}

void put(const symbols::KernelNames& names, kinds::Tables& tables) {
    const auto put_name = [&](table::Place& place, symbols::AddressKind kind) {
        if (place.symbol || !place.address) return;
        const auto name = names.find(*place.address, kind);
        if (name.symbol) {
            place.symbol = name.symbol->marked_name();
            place.offset = name.symbol->offset;
            if (name.symbol->module) place.module = *name.symbol->module;
        } else if (name.near && name.near->inside()) {
            place.module = name.near->name;
        }
    };
    table::change_each<table::Place>(tables,
                                     [&](table::Place& place) { put_name(place, symbols::AddressKind::drop_site); });
    table::change_each<table::Path>(tables, [&](table::Path& path) {
        auto kind = symbols::AddressKind::drop_site;
        for (auto& place : path)
            put_name(place, std::exchange(kind, symbols::AddressKind::return_address));
    });
}

/// True if any was missing.
bool put(const symbols::DropReasons& reasons, kinds::Tables& tables) {
    bool any = false;
    table::change_each<table::Reason>(tables, [&](table::Reason& reason) {
        if (reason.name || reason.number < 0) return;
        reason.name = reasons.describe(static_cast<std::uint32_t>(reason.number));
        any = true;
    });
    return any;
}

/// The places of drops, a row for each.
std::vector<const table::Place*> drop_places_of(const kinds::Measured& measured) {
    std::vector<const table::Place*> places;
    for (const auto& drop : measured.of<rows::OfInterval<rows::Drop>>())
        places.push_back(&drop.place);
    return places;
}

/// Where nothing has a name, and there is no map. Hashed addresses (%p) have none.
void note_addresses(kinds::Measured& measured) {
    const auto is_bare = [](const table::Place* place) {
        return place->address && !place->symbol && !place->module && *place->address >> 32U != 0;
    };
    const auto places = drop_places_of(measured);
    if (places.empty() || !std::ranges::all_of(places, is_bare)) return;
    measured.notes.emplace_back(
        "the places are addresses: --map FILE names them (System.map or a copy of /proc/kallsyms of that kernel)");
}

/// As far as the kernel need not be known. True if any is still a number.
bool put_subsystems(kinds::Tables& tables) {
    bool any = false;
    table::change_each<table::Reason>(tables, [&](table::Reason& reason) {
        if (reason.name || reason.number < 0) return;
        reason.name = symbols::DropReasons::describe_of_any(static_cast<std::uint32_t>(reason.number));
        any |= !reason.name;
    });
    return any;
}

/// The log's own names of its addresses.
std::vector<symbols::NamedAddress> named_addresses_of(const std::vector<const table::Place*>& places) {
    std::vector<symbols::NamedAddress> named;
    for (const auto* place : places) {
        if (place->address && place->symbol && place->offset && !place->module)
            named.push_back({*place->address, *place->symbol, *place->offset});
    }
    return named;
}

template <class T>
std::optional<T> value_or_shown_error(base::Result<T> read) {
    if (read) return *std::move(read);
    base::show_error(read.error());
    return std::nullopt;
}

}  // namespace

void report_notes(const symbols::KernelNames& names, ReportedNotes& reported) {
    for (const auto& note : names.notes()) {
        if (reported.insert(note).second) base::print_message(note);
    }
}

void report_check(symbols::KernelNames& names, std::span<const std::uint64_t> drop_addresses, bool more_may_come) {
    base::print_message(names.check(drop_addresses, more_may_come));
}

base::Result<void> settle_kaslr_offset(symbols::KernelNames& names, std::span<const std::uint64_t> drop_addresses,
                                       ReportedNotes& reported) {
    const auto finding = names.infer(drop_addresses);
    report_notes(names, reported);
    if (finding.kaslr_offset) return {};
    std::string hint =
        "give a copy of /proc/kallsyms of that boot; a log with more different drops; or the offset: --kaslr-offset "
        "HEX (0 if booted with nokaslr)";
    if (!finding.candidates.empty()) {
        std::vector<std::string> shown;
        for (const auto candidate : finding.candidates)
            shown.push_back(candidate < 0 ? fmt::format("-0x{:x}", -candidate) : fmt::format("0x{:x}", candidate));
        hint += fmt::format("; {}: {}{}", finding.candidate_count == 1 ? "possible offset" : "possible offsets",
                            fmt::join(shown, ", "), finding.candidate_count > shown.size() ? ", ..." : "");
    }
    return base::bad_input(finding.explanation, hint);
}

const symbols::KernelNames* Namer::here() {
    if (!std::exchange(read_symbols_, true)) {
        names_ = value_or_shown_error(symbols::KernelNames::of_this_machine(host::kallsyms_file, host::modules_file));
    }
    return names_ ? &*names_ : nullptr;
}

std::optional<symbols::Symbol> Namer::find(std::uint64_t address) {
    const auto* names = here();
    return names == nullptr ? std::nullopt : names->find(address, symbols::AddressKind::drop_site).symbol;
}

const std::map<std::uint32_t, std::string>* Namer::reasons() {
    if (!std::exchange(read_reasons_, true)) {
        reasons_ = value_or_shown_error(symbols::DropReasons::of_this_machine(
            {host::kfree_skb_format_files.begin(), host::kfree_skb_format_files.end()}, host::btf_file));
    }
    return reasons_ ? &reasons_->all() : nullptr;
}

void Namer::look_at_owners(const decode::Header& header) {
    if (std::ranges::none_of(header.schemas, has_owners)) return;
    if (!owners_) owners_.emplace();
    owners_->look();
}

void Namer::observe_owner(const decode::Record& record) {
    // They are the last ones.
    const auto& fields = record.schema->fields;
    for (auto i = fields.size(); i > 0 && fields[i - 1].attribute == decode::Attribute::key; --i) {
        if (!containers::is_owner_field(fields[i - 1].name)) continue;
        if (!owners_) owners_.emplace();
        owners_->observe(fields[i - 1].name, record.values[i - 1].raw);
    }
}

void Namer::observe_code(const decode::Record& record) {
    const auto& schema = *record.schema;
    if (schema.index == 0) return;  // most records
    if (tells_wakers(schema)) {
        const auto address = lock_address(record.values[*schema.find("by")].raw);
        if (address) processes_.observe(record.values[*schema.find("tid")].number, *address);
    }
    if (!samples_code(schema)) return;
    const auto pid = record.values[*schema.find("pid")].number;
    auto room = symbols::user::ProcessNames::max_addresses;
    for (const auto address : decode::stack_addresses(record.values[*schema.find("frames")].raw)) {
        processes_.observe(pid, address, room);
        // Where it is counts for more than who called.
        room = symbols::user::ProcessNames::max_addresses / 4 * 3;
    }
}

std::vector<recording::CodeName> Namer::code_names() {
    std::vector<recording::CodeName> names;
    for (auto& [pid, address, name] : processes_.all())
        names.push_back({pid, address, std::move(name.symbol), name.offset, std::move(name.file),
                         std::move(name.build_id), name.place, name.is_after_call});
    return names;
}

recording::GroupNames Namer::group_names() {
    return owners_ ? owners_->names() : recording::GroupNames();
}

base::Result<void> Namer::put_into(kinds::Measured& measured, const recording::RunFacts& facts,
                                   const std::string& release) {
    put(facts, measured);
    put_code(facts, measured);
    put_owners({&facts.outcome.group_names, &facts.setup.group_names}, measured);
    if (sources_) {
        auto log = facts.setup.kernel;
        if (log.release.empty()) log.release = release;
        return put_of_log(measured, std::move(log));
    }
    if (measured.of<rows::OfInterval<rows::Drop>>().empty() && measured.of<rows::OfInterval<rows::Stack>>().empty() &&
        measured.of<rows::Who>().empty())
        return {};
    if (const auto* names = here()) put(*names, measured);
    if (reasons() != nullptr) put(*reasons_, measured);
    return {};
}

base::Result<void> Namer::put_of_log(kinds::Measured& measured, symbols::LogKernel log) {
    const auto& sources = *sources_;
    const auto drops = drop_places_of(measured);
    std::vector<std::uint64_t> places;
    for (const auto* place : drops) {
        if (place->address && !place->symbol) places.push_back(*place->address);
    }
    bool any_unnamed = false;
    for_each_place(measured, [&](const table::Place& place) { any_unnamed |= place.address && !place.symbol; });
    const bool by_build_id =
        any_unnamed && !log.build_id.empty() && sources.fetch && !unfetched_.contains(log.build_id);
    std::optional<symbols::DropReasons> reasons;
    if (!sources.files.empty() || sources.modules || sources.kaslr_offset || by_build_id) {
        auto names = symbols::KernelNames::open(sources, log);
        if (!names && sources.files.empty() && by_build_id) {
            unfetched_.insert(log.build_id);
            base::show_error(names.error());
            return {};
        }
        STAPGEN_TRY(names);
        // An address that a 64-bit kernel has hashed (%p) is below its addresses.
        if (names->address_digits() > 8) {
            std::erase_if(places, [](std::uint64_t address) { return address >> 32U == 0; });
        }
        STAPGEN_TRY(names->check_names(named_addresses_of(drops)));
        if (any_unnamed) {
            if (const auto settled = settle_kaslr_offset(*names, places, reported_); !settled) {
                base::show_error(settled.error());
                measured.notes.emplace_back(settled.error().what);
            }
            for (auto& said : names->check(places))
                measured.notes.emplace_back(std::move(said));
            put(*names, measured);
        }
        report_notes(*names, reported_);
        reasons = names->drop_reasons();
    } else if (const auto& release = sources.release.empty() ? log.release : sources.release; !release.empty()) {
        if (auto known = symbols::DropReasons::of_release(release)) reasons = *std::move(known);
    }
    if (sources.files.empty()) note_addresses(measured);
    if (reasons && put(*reasons, measured) && !reasons->guess().empty()) measured.notes.emplace_back(reasons->guess());
    if (put_subsystems(measured) && !reasons)
        measured.notes.emplace_back("the reasons are numbers: -r RELEASE, the kernel's, names them");
    return {};
}

}  // namespace stapgen::session
