#include "cli/naming.h"

#include "cli/doing.h"
#include "symbols/live.h"

namespace stapgen::cli {

void Names::read() {
    if (read_) return;
    read_ = true;
    if (auto table = symbols::read_live_symbols()) {
        table_ = *std::move(table);
    } else {
        show_error(table.error());
    }
    if (auto reasons = symbols::read_live_drop_reasons()) {
        reasons_ = *std::move(reasons);
    } else {
        show_error(reasons.error());
    }
}

void Names::put_into(analyze::Summary& summary) {
    if (summary.drops.empty()) return;
    read();
    for (auto& drop : summary.drops) {
        if (table_ && drop.address) {
            if (const auto symbol = table_->find(*drop.address, {symbols::AddressKind::return_address, 0})) {
                drop.symbol = symbol->name;
                drop.offset = symbol->offset;
                if (symbol->module) drop.module = *symbol->module;
            }
        }
        if (reasons_ && drop.reason >= 0)
            drop.reason_name = reasons_->describe(static_cast<std::uint32_t>(drop.reason));
    }
}

}  // namespace stapgen::cli
