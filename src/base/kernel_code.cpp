#include "base/kernel_code.h"

#include <algorithm>
#include <array>

namespace stapgen::base {

namespace {

constexpr std::array<std::string_view, 15> data_marks{"_edata",
                                                      "_end",
                                                      "_sdata",
                                                      "__bss_start",
                                                      "__bss_stop",
                                                      "__brk_base",
                                                      "__brk_limit",
                                                      "__init_begin",
                                                      "__init_end",
                                                      "__init_scratch_begin",
                                                      "__init_scratch_end",
                                                      "__end_of_kernel_reserve",
                                                      "_brk_end",
                                                      "__nosave_end",
                                                      "__smp_locks_end"};

}  // namespace

bool can_be_code(std::string_view name, std::uint64_t offset) {
    return offset < max_function_length && !name.starts_with("__start_") && !name.starts_with("__stop_") &&
           std::ranges::find(data_marks, name) == data_marks.end();
}

}  // namespace stapgen::base
