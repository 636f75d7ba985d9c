// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace stapgen::symbols {

/// The release of the kernel that a text is of, where its lines say so: "Linux version RELEASE (" of dmesg, `uname -a`,
/// what follows `uname -r`, "Not tainted RELEASE #1" of an oops (dump_stack_print_info in lib/dump_stack.c), "# os
/// release : RELEASE" of perf script, "RELEASE: RELEASE" of crash.
class ReleaseFinder {
  public:
    /// Goes on in the text, by whole lines.
    void read(std::string_view lines);
    /// Empty where no line says it, or two say different ones.
    [[nodiscard]] std::string release() const { return several_ ? std::string() : release_; }

  private:
    std::string release_;
    bool several_ = false;
    bool asked_ = false;  ///< the line before is the command
};

enum class SameRelease { yes, no, unknown };

/// Whether two releases are of one kernel. An architecture at the end does not matter ("3.10.0-514.el7.x86_64"); a
/// version of upstream alone ("6.12.117") says nothing of a distribution's that begins so.
SameRelease is_same_release(std::string_view a, std::string_view b);

}  // namespace stapgen::symbols
