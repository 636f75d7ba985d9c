#include "session/names.h"

#include <algorithm>
#include <utility>

#include "base/terminal.h"
#include "host/facts.h"
#include "symbols/debuginfod.h"
#include "symbols/live.h"

namespace stapgen::session {

namespace {

void put(analyze::Summary& summary, const symbols::KernelNames& names) {
    for (auto& drop : summary.drops) {
        if (drop.symbol || !drop.address) continue;
        const auto name = names.find(*drop.address, symbols::AddressKind::drop_site);
        if (name.symbol) {
            drop.symbol = name.symbol->name;
            drop.offset = name.symbol->offset;
            if (name.symbol->module) drop.module = *name.symbol->module;
        } else if (name.near && name.near->inside()) {
            drop.module = name.near->name;
        }
    }
}

/// What the log itself calls its addresses.
std::vector<symbols::Witness> witnesses_of(const analyze::Summary& summary) {
    std::vector<symbols::Witness> witnesses;
    for (const auto& drop : summary.drops) {
        if (drop.address && drop.symbol && drop.offset && !drop.module) {
            witnesses.push_back({*drop.address, *drop.symbol, *drop.offset});
        }
    }
    return witnesses;
}

/// True if any was missing.
bool put(analyze::Summary& summary, const symbols::DropReasons& reasons) {
    bool any = false;
    for (auto& drop : summary.drops) {
        if (drop.reason_name || drop.reason < 0) continue;
        drop.reason_name = reasons.describe(static_cast<std::uint32_t>(drop.reason));
        any = true;
    }
    return any;
}

}  // namespace

bool names_are_wanted(const symbols::NameSources& sources) {
    return !sources.files.empty() || sources.modules || sources.kaslr_offset || !sources.release.empty();
}

symbols::LogKernel kernel_of(const recording::Head& head) {
    return {head.release, head.build_id, head.text, head.stext, head.etext, head.modules};
}

void show_notes(const symbols::KernelNames& names) {
    static std::set<std::string> shown;
    for (const auto& note : names.notes()) {
        if (shown.insert(note).second) base::tell(note);
    }
}

base::Result<void> settle_kaslr_offset(symbols::KernelNames& names, std::span<const std::uint64_t> drop_addresses) {
    const auto finding = names.infer(drop_addresses);
    show_notes(names);
    if (finding.kaslr_offset) return {};
    std::string hint = fmt::format(
        "what helps: a copy of /proc/kallsyms of the boot that made the log; a log with more different drops; {}or say "
        "it: "
        "--slide HEX (0 if it was started with nokaslr)",
        finding.exact ? "" : "the kernel's vmlinux or vmlinuz (in /boot, no debug package) beside the map; ");
    if (!finding.candidates.empty()) {
        std::vector<std::string> shown;
        for (const auto candidate : finding.candidates)
            shown.push_back(candidate < 0 ? fmt::format("-0x{:x}", -candidate) : fmt::format("0x{:x}", candidate));
        hint += fmt::format("; {}: {}{}", finding.candidate_count == 1 ? "it could be" : "it could be one of",
                            fmt::join(shown, ", "), finding.candidate_count > shown.size() ? ", ..." : "");
    }
    return base::bad_input(finding.explanation, hint);
}

void Names::read_symbols() {
    if (std::exchange(read_symbols_, true)) return;
    if (auto names = symbols::KernelNames::of_this_machine(host::kallsyms_file, host::modules_file)) {
        names_ = *std::move(names);
    } else {
        base::show_error(names.error());
    }
}

void Names::read_reasons() {
    if (std::exchange(read_reasons_, true)) return;
    if (auto reasons = symbols::read_live_drop_reasons(
            {host::kfree_skb_format_files.begin(), host::kfree_skb_format_files.end()}, host::btf_file)) {
        reasons_ = *std::move(reasons);
    } else {
        base::show_error(reasons.error());
    }
}

std::optional<symbols::Symbol> Names::find(std::uint64_t address) {
    read_symbols();
    return names_ ? names_->find(address, symbols::AddressKind::drop_site).symbol : std::nullopt;
}

const std::map<std::uint32_t, std::string>* Names::reasons() {
    read_reasons();
    return reasons_ ? &reasons_->all() : nullptr;
}

void Names::put_into(analyze::Summary& summary) {
    if (summary.drops.empty()) return;
    read_symbols();
    read_reasons();
    if (names_) put(summary, *names_);
    if (reasons_) put(summary, *reasons_);
}

base::Result<void> put_names(analyze::Summary& summary, const symbols::NameSources& sources,
                             const recording::Head* head) {
    const auto log = head == nullptr ? symbols::LogKernel{} : kernel_of(*head);
    std::vector<std::uint64_t> places;
    for (const auto& drop : summary.drops) {
        if (drop.address && !drop.symbol) places.push_back(*drop.address);
    }
    const bool by_build_id = !places.empty() && !log.build_id.empty() && symbols::debuginfod_is_set();
    std::optional<symbols::DropReasons> reasons;
    if (!sources.files.empty() || sources.modules || sources.kaslr_offset || by_build_id) {
        auto names = symbols::KernelNames::open(sources, log);
        if (!names && sources.files.empty() && by_build_id) {
            base::show_error(names.error());
            return {};
        }
        if (!names) return tl::make_unexpected(names.error());
        // What a 64-bit kernel has hashed (%p) is below its addresses.
        if (names->address_digits() > 8) {
            std::erase_if(places, [](std::uint64_t address) { return address >> 32U == 0; });
        }
        if (auto agreed = names->hear(witnesses_of(summary)); !agreed) return tl::make_unexpected(agreed.error());
        if (!places.empty()) {
            if (const auto settled = settle_kaslr_offset(*names, places); !settled) {
                base::show_error(settled.error());
                summary.notes.emplace_back(settled.error().what);
            }
            put(summary, *names);
        }
        show_notes(*names);
        reasons = names->drop_reasons();
    } else if (const auto& release = sources.release.empty() ? log.release : sources.release; !release.empty()) {
        if (auto known = symbols::DropReasons::of_release(release)) reasons = *std::move(known);
    }
    if (reasons && put(summary, *reasons) && !reasons->guess().empty()) summary.notes.emplace_back(reasons->guess());
    return {};
}

}  // namespace stapgen::session
