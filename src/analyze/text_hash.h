#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace stapgen::analyze {

/// For containers of std::string in which a std::string_view is looked up.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

}  // namespace stapgen::analyze
