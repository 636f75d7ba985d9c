#include "host/memory.h"

#include "base/text.h"

namespace stapgen::host {

std::optional<std::int64_t> memory_mib(std::string_view meminfo, std::string_view key) {
    for (const auto line : base::split(meminfo, '\n')) {
        const auto fields = base::words(line);
        if (fields.size() >= 2 && fields[0] == key) return base::to_int(fields[1]).value_or(0) / 1024;
    }
    return std::nullopt;
}

}  // namespace stapgen::host
