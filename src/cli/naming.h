#pragma once

#include <optional>

#include "analyze/summary.h"
#include "symbols/drop_reasons.h"
#include "symbols/symbol_table.h"

namespace stapgen::cli {

/// Names of this machine's kernel for addresses and drop reasons. Read when first needed; what cannot be read
/// is said once, on stderr, and leaves the numbers as they are.
class Names {
  public:
    void put_into(analyze::Summary& summary);

  private:
    void read();

    bool read_ = false;
    std::optional<symbols::SymbolTable> table_;
    std::optional<symbols::DropReasons> reasons_;
};

}  // namespace stapgen::cli
