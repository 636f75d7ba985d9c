#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace stapgen::host {

/// Which SystemTap this is. Ordered by number; the vendor's text takes no part in comparisons.
struct StapVersion {
    int major = 0;
    int minor = 0;
    std::string text{};       ///< what stands in the parentheses: "4.8/0.188, Debian version 4.8-2"
    bool debian = false;      ///< Debian's stap reads other symbol tables than upstream's
    std::string tested_to{};  ///< the newest kernel that its makers tried it with: "6.9-rc0"; empty: not given

    friend std::strong_ordering operator<=>(const StapVersion& a, const StapVersion& b) {
        if (const auto order = a.major <=> b.major; order != 0) return order;
        return a.minor <=> b.minor;
    }
    friend bool operator==(const StapVersion& a, const StapVersion& b) { return (a <=> b) == 0; }
};

/// Reads what `stap --version` prints (on stderr), of any age.
std::optional<StapVersion> parse_stap_version(std::string_view output);

/// "5.2" or "4.8/0.188", as written in workarounds.toml; of a kernel, "6.9-rc0".
std::optional<StapVersion> parse_version_number(std::string_view number);

}  // namespace stapgen::host
