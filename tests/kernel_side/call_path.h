// SPDX-License-Identifier: GPL-2.0-or-later
// The call path that the kernel gives, of functions by their names, for a test that is one file.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "kernel_shim.h"

module shim_module{"stap_0123456789"};

namespace {

using Frames = std::vector<unsigned long>;
Frames kernel_stack;
int names_looked_up = 0;

/// Functions of 256 bytes each, from here on.
constexpr unsigned long text = 0xffffffff81000000;
std::vector<std::string> functions;

/// The place behind a call in a function.
unsigned long in(const std::string& function, unsigned long offset = 0x20) {
    const auto known = std::find(functions.begin(), functions.end(), function);
    const auto place = static_cast<unsigned long>(known - functions.begin());
    if (known == functions.end()) functions.push_back(function);
    return text + place * 0x100 + offset;
}

}  // namespace

unsigned int stack_trace_save(unsigned long* frame, unsigned int size, unsigned int skip) {
    const auto frames = std::min<std::size_t>(size, kernel_stack.size() - skip);
    std::copy_n(kernel_stack.begin() + skip, frames, frame);
    return static_cast<unsigned int>(frames);
}
void shim_name_function(char* name, size_t size, unsigned long address) {
    ++names_looked_up;
    const auto place = (address - text) / 0x100;
    std::snprintf(name, size, "%s", address >= text && place < functions.size() ? functions[place].c_str() : "0x0");
}
