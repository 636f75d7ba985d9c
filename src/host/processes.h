// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace stapgen::host {

/// For those who open files of processes themselves: a folder for each process and thread.
inline constexpr auto processes_folder = "/proc";

}  // namespace stapgen::host
