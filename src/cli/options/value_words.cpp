#include "cli/options/value_words.h"

#include <algorithm>
#include <array>

namespace stapgen::cli {

namespace {

constexpr std::array words{
    ValueWord{"ADDRESS", "IPv4 or IPv6, in full and without a host's name"},
    ValueWord{"COMM", "a thread's name, of which the kernel keeps 15 bytes"},
    ValueWord{"DEV", "a network device's name"},
    ValueWord{"DURATION", "a number with its unit: ns, us, ms, s, m or h, as 250ms"},
    ValueWord{"FUNC", "a kernel function; * and ? stand for anything"},
    ValueWord{"HEX", "hexadecimal, with or without 0x"},
    ValueWord{"MARK", "32 bits, decimal or with 0x hexadecimal"},
    ValueWord{"MODULE", "a kernel module's name"},
    ValueWord{"PERCENT", "a number, with or without %: 2.5%"},
    ValueWord{"PID", "a process, decimal: 'ps -e' lists them"},
    ValueWord{"RECIPE", "a recipe's name: 'stapgen list' lists them"},
    ValueWord{"RELEASE", "a kernel's release, as 'uname -r' prints it"},
    ValueWord{"SIZE", "a number with kB, MB, GB (powers of 1000) or KiB, MiB, GiB (also K, M, G; of 1024)"},
    ValueWord{"TID", "a thread, decimal: 'ps -eLo pid,tid,comm' lists them"},
    ValueWord{"TIME", "a number with ns, us, ms, s, m or h, as 250ms; without: seconds"},
    ValueWord{"WORKAROUND", "a workaround's name, as stderr has it; or all"},
};

}  // namespace

std::string_view plain_word(std::string_view value) {
    return value.substr(0, value.find_first_of("[./,"));
}

const ValueWord* meaning_of(std::string_view value) {
    const auto* found = std::ranges::find(words, plain_word(value), &ValueWord::word);
    return found == words.end() ? nullptr : found;
}

}  // namespace stapgen::cli
