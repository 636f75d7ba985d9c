#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analyze/summary.h"
#include "symbols/drop_reasons.h"
#include "symbols/symbol_table.h"

namespace stapgen::cli {

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
    std::optional<symbols::SymbolTable> table_;
    std::optional<symbols::DropReasons> reasons_;
};

}  // namespace stapgen::cli
