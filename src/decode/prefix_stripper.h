#pragma once

#include <string>
#include <string_view>

#include "decode/line_prefix.h"

namespace stapgen::decode {

/// The lines of a text without what another tool has put before each of them, and with plain blanks in place of
/// no-break ones. Holds the first lines back until there are enough to learn from.
class PrefixStripper {
  public:
    /// What can be said of so many whole lines, each with its '\n'; empty as long as it holds back. Valid until the
    /// next call.
    std::string_view feed(std::string_view whole_lines);
    /// What is held back.
    std::string_view finish();
    /// A last line without '\n'.
    [[nodiscard]] std::string last_line(std::string_view line) const;

  private:
    LinePrefix prefix_;
    std::string text_;
    bool learned_ = false;
};

}  // namespace stapgen::decode
