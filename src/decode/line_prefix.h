#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::decode {

/// What some other tool has put before each line: its time, a host, a container, a number, a bullet, quote marks. It is
/// told by what repeats, not by a list of tools: the same number of words on every line, alike from line to line.
class LinePrefix {
  public:
    /// How many of some lines are understood.
    using Understood = std::function<std::size_t(std::string_view lines)>;

    /// Learns from the first lines of an input, each with its '\n'. Nothing is taken off where they are understood best
    /// as they are.
    void learn(std::string_view lines, const Understood& understood);

    [[nodiscard]] bool is_empty() const { return words_ == 0 && !glued_; }

    /// The lines without it; those that do not have it, and every line's end, as they are.
    [[nodiscard]] std::string without(std::string_view lines) const;

  private:
    [[nodiscard]] std::size_t length(std::string_view line) const;
    [[nodiscard]] bool is_alike(std::string_view line) const;

    std::size_t words_ = 0;
    bool glued_ = false;  ///< and up to a ':', '|', '>' or ')' in the word behind them: "12:3 drops at ..."
    /// Of each word: its shapes. Empty: they are many.
    std::vector<std::set<std::string>> shapes_;
};

}  // namespace stapgen::decode
