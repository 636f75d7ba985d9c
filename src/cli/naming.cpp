#include "cli/naming.h"

#include <utility>

#include "cli/doing.h"
#include "symbols/live.h"

namespace stapgen::cli {

void Names::read_symbols() {
    if (std::exchange(read_symbols_, true)) return;
    if (auto table = symbols::read_live_symbols()) {
        table_ = *std::move(table);
    } else {
        show_error(table.error());
    }
}

void Names::read_reasons() {
    if (std::exchange(read_reasons_, true)) return;
    if (auto reasons = symbols::read_live_drop_reasons()) {
        reasons_ = *std::move(reasons);
    } else {
        show_error(reasons.error());
    }
}

std::optional<symbols::Symbol> Names::find(std::uint64_t address) {
    read_symbols();
    return table_ ? table_->find(address, {symbols::AddressKind::return_address, 0}) : std::nullopt;
}

const std::map<std::uint32_t, std::string>* Names::reasons() {
    read_reasons();
    return reasons_ ? &reasons_->all() : nullptr;
}

void Names::put_into(analyze::Summary& summary) {
    if (summary.drops.empty()) return;
    read_symbols();
    read_reasons();
    for (auto& drop : summary.drops) {
        if (const auto symbol = drop.address ? find(*drop.address) : std::nullopt) {
            drop.symbol = symbol->name;
            drop.offset = symbol->offset;
            if (symbol->module) drop.module = *symbol->module;
        }
        if (reasons_ && drop.reason >= 0)
            drop.reason_name = reasons_->describe(static_cast<std::uint32_t>(drop.reason));
    }
}

}  // namespace stapgen::cli
