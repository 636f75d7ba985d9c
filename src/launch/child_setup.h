// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "launch/child_process.h"

namespace stapgen::launch {

/// The steps of the child between fork and exec. Everything is prepared in the parent, so that run()
/// makes system calls only (it must be async-signal-safe); if one fails the child exits and the parent finds
/// the reason with failure().
class ChildSetup {
  public:
    /// `command` must outlive this.
    explicit ChildSetup(const Command& command);
    ChildSetup(const ChildSetup&) = delete;
    ChildSetup& operator=(const ChildSetup&) = delete;
    ~ChildSetup();

    /// In the child. Does not return if something fails.
    void run() const;

    /// In the parent, after the fork: why run() failed, if it did. To be called once.
    base::Result<void> failure();

  private:
    enum class Step : int { parent_gone, folder, namespaces, private_root, mount };
    struct Report {
        Step step;
        int number;  ///< errno
        int mount;   ///< which one
    };

    void enter_namespace() const;
    /// Makes the namespace. Where it may not: the step that failed; errno says why.
    [[nodiscard]] std::optional<Step> make_namespace() const;
    [[noreturn]] void fail(Step step, int mount = 0) const;

    const Command& command_;
    pid_t parent_;
    std::string uid_map_, gid_map_;
    int report_[2] = {-1, -1};
};

/// stap refuses any other $TMPDIR.
bool stap_takes_as_tmpdir(std::string_view folder);

}  // namespace stapgen::launch
