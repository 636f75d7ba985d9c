#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::filter {

/// A program of classic BPF for Ethernet frames, as tapsets/c/bpf.h runs it: a word for each instruction.
using Program = std::vector<std::uint64_t>;

/// libpcap's language: pcap-filter(7). Errors name the place, and so do those for what libpcap takes and
/// the kernel side cannot heed. Names of hosts are looked up.
base::Result<Program> compile(const std::string& expression);

/// As a module takes it: numbers with commas between.
std::string parameter_of(const Program& program);

/// ADDRESS[/PREFIX] as what follows "net" in an expression. Bits beyond the prefix are an error.
base::Result<std::string> network_of(std::string_view text);

}  // namespace stapgen::filter
