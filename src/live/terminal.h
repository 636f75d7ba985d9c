// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/terminal.h"
#include "live/keys.h"
#include "live/lines.h"

namespace stapgen::live {

/// The terminal on stdin and stdout as a screen. While there is one it must be written to by nobody else. It is given
/// back as it was by the destructor, and where the program dies of its own fault or of SIGQUIT; while the program is
/// suspended (Ctrl-Z) the shell has it. Not more than one at a time. Wraps ncurses, which nothing else includes.
class Terminal {
  public:
    /// Why there cannot be one: stdin or stdout is no terminal, or it is another job's, or terminfo does not know it.
    static base::Result<void> usable();

    static base::Result<std::unique_ptr<Terminal>> open(base::Colours colours);
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal();

    /// As large as it is now.
    [[nodiscard]] Size size() const;
    /// Whether its locale is one of UTF-8.
    [[nodiscard]] bool utf8() const { return utf8_; }
    /// A key that was pressed, without waiting for one. Nothing when all have been taken.
    std::optional<Key> key();
    /// Shows these lines. Where the terminal takes no output now (its other end has stopped reading), nothing is
    /// drawn: a measurement must not wait for its screen.
    void draw(const std::vector<Line>& lines);

  private:
    explicit Terminal(bool utf8) : utf8_(utf8) {}

    bool utf8_;
};

}  // namespace stapgen::live
