// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <functional>

/// The signals of this process and its limit of descriptors. Set once, by main; nothing else of the
/// program installs a handler, blocks a signal or sets a limit, but for children, which get their own.
namespace stapgen::base {

/// To be called before any thread is started. SIGINT, SIGTERM and SIGHUP (unless that is ignored, as under nohup) come
/// to a thread of their own from then on. While nobody heeds them they end the program as they do any other, after what
/// is `Unfinished` was removed. SIGPIPE and SIGXFSZ are ignored: a write() fails then, and is handled as a full disk
/// is.
void take_signals();

/// While one lives, a user who asks to end is counted, and whoever made it ends in order. In any thread, and any
/// number.
class HeededSignals {
  public:
    HeededSignals();
    HeededSignals(const HeededSignals&) = delete;
    HeededSignals& operator=(const HeededSignals&) = delete;
    ~HeededSignals();

    /// How often the user has asked to end since it was made. To be looked at several times a second.
    [[nodiscard]] int count() const;

  private:
    int before_;
};

/// While one lives, SIGUSR1 asks for something, and does not end the program. One at a time.
class UserSignal {
  public:
    UserSignal();
    UserSignal(const UserSignal&) = delete;
    UserSignal& operator=(const UserSignal&) = delete;
    ~UserSignal();

    /// Whether it came since it was made, or looked at before. To be looked at several times a second.
    bool take();
};

/// A file or folder that is nothing yet: removed if a signal ends the program before it is destroyed.
class Unfinished {
  public:
    /// `make` makes it and returns its path, or an empty one where it could not. No signal ends the program between
    /// that and the note of it. errno is what `make` left.
    explicit Unfinished(const std::function<std::filesystem::path()>& make);
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    ~Unfinished();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// Raises the soft limit of descriptors to the hard one: a fleet needs some for each host.
void raise_descriptor_limit();
/// The limit as it was before, for children: some are slow where it is large, and some use select(2).
void restore_descriptor_limit();
/// How many more descriptors can be opened now; 0 or more.
std::size_t free_descriptors();

}  // namespace stapgen::base
