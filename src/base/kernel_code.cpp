#include "base/kernel_code.h"

#include <algorithm>

#include "base/text.h"

namespace stapgen::base {

namespace {

constexpr std::string_view data_marks =
    "_edata _end _sdata __bss_start __bss_stop __brk_base __brk_limit __init_begin __init_end __init_scratch_begin "
    "__init_scratch_end __end_of_kernel_reserve _brk_end __nosave_end __smp_locks_end";

}  // namespace

bool can_be_code(std::string_view name, std::uint64_t offset) {
    return offset < max_function_length && !name.starts_with("__start_") && !name.starts_with("__stop_") &&
           !contains_word(data_marks, name);
}

std::size_t symbol_length(std::string_view text) {
    if (!text.empty() && is_digit(text[0])) return 0;
    const auto is_of_name = [](char c) { return is_word_character(c) || c == '.' || c == '$'; };
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_name) - text.begin());
}

bool is_module_name(std::string_view text) {
    const auto is_of_name = [](char c) { return is_word_character(c) || c == '-'; };
    return !text.empty() && text.size() <= max_module_length && std::ranges::all_of(text, is_of_name);
}

}  // namespace stapgen::base
