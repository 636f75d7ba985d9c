#include "decode/trace_dialect.h"

#include <fmt/format.h>

#include "base/saturate.h"

namespace stapgen::decode {

void TraceDialect::lose(std::int64_t events) {
    base::add_saturating(lost_, events);
}

std::vector<std::string> TraceDialect::notes() const {
    if (lost_ == 0) return {};
    return {fmt::format("{} events of whatever kind were lost by the trace buffer", lost_)};
}

}  // namespace stapgen::decode
