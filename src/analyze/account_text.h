// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kinds/measured.h"

/// Sentences that tables and pages share. Control characters of names are made visible.
namespace stapgen::analyze {

using kinds::Measured, kinds::Run;

/// Why and when the records of each recording were kept, and what differs at that moment; empty: they are those of
/// whole runs.
std::vector<std::string> kept_lines(const Measured& measured);

/// When it began, and for how long: "2026-11-20 14:09:01 +0100, for 2.21 s", of several recordings their lengths
/// together; empty if the input does not say. Local time zone.
std::string span_text(const Run& run);

/// That only a sample of the sockets was measured, and how many records of all there would be; empty if it was all.
std::string sample_text(const kinds::Sample& sample);

/// "4037 seen = 2019 reported + 2018 filtered + 0 incomplete + 0 lost", what the script counts beside them, and
/// sample_text(). Nothing where the input keeps no account.
std::vector<std::string> account_lines(const Measured& run);

/// How many probes did not run, and their functions where known, the three largest by name, and what can be
/// missing for it. Empty if all did.
std::string skipped_text(const recording::Transport& transport);

/// All that is missing, a sentence for each kind.
std::vector<std::string> warnings_of(const Run& run);

/// How many lines were not understood, then the first of them; empty if there are none.
std::vector<std::string> not_understood(const decode::InputCounts& input);

/// Each host with its kernel once: "web17, Linux 6.12"; empty where nothing is known.
std::vector<std::string> hosts_of(const Run& run);

/// A line for each measurement, the first few: "on web17 (dc=fra1), Linux 6.12: stapgen rx-latency --port 80"; then
/// definition_text(). Machines and builds of kernels are by the first eight digits.
std::vector<std::string> origin_lines(const Run& run);

/// "definition 1f2e3d4c5b6a, kernel build 0123abcd, machine 89ab4def", and why the report stands apart from another;
/// empty where it is not known and nothing is apart.
std::string definition_text(const Run& run);

/// By what was filtered: "--port 80", or of measurements that differ in it "--port 80 or --port 81"; empty where that
/// is not known.
std::string filters_text(const Run& run);

}  // namespace stapgen::analyze
