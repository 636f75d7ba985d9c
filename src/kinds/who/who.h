// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>

#include "kinds/intervals.h"
#include "kinds/kind.h"

/// What threads waited for, in sum: who had the CPU, which cgroup was throttled, where they slept.
namespace stapgen::kinds::who {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The tables that are written, of what was measured.
void put_results(const Measured& measured, const Asked& asked, table::Results& results);

/// "who": a row for each thread and each thing that it waited for, the worst first. `group` has the thread (tid, comm),
/// what it waited for (`waited`: run-queue, throttled, asleep, stopped, frozen), and by whom (`by`, or `cgroup`, or
/// neither where it slept: then `frames` is its call path). Its waits, how long they were together, for how long of
/// that a packet lay ready which it took afterwards, and the longest, in ns.
table::Table who_table();

}  // namespace stapgen::kinds::who
