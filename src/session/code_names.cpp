// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/code_names.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "decode/record.h"
#include "kinds/functions/functions.h"
#include "symbols/user/system_calls.h"
#include "table/merge.h"

namespace stapgen::session {

namespace {

using Names = std::map<std::pair<std::int64_t, std::uint64_t>, const recording::CodeName*>;

std::string call_text(std::string_view architecture, std::int64_t number) {
    if (number < 0) return "page faults and interrupts";
    const auto name = symbols::user::name_of_system_call(architecture, number);
    return name.empty() ? fmt::format("system call {}", number) : fmt::format("{}()", name);
}

void put(std::string function, std::string file, rows::CodeSample& sample) {
    sample.path.push_back(std::move(function));
    sample.files.push_back(std::move(file));
}

/// Those who called, as long as each is a place where a call returns to: behind another one all is invented.
void put_path(const Names& names, rows::CodeSample& sample) {
    bool is_first = true;
    for (const auto address : decode::stack_addresses(sample.addresses)) {
        const auto found = names.find({sample.pid, address});
        const auto* name = found == names.end() ? nullptr : found->second;
        if (!std::exchange(is_first, false) && (name == nullptr || !name->after_call)) return;
        if (name == nullptr)
            put(std::string(kinds::functions::nameless), "", sample);
        else if (!name->symbol.empty())
            put(name->symbol, name->file, sample);
        else
            put(std::string(kinds::functions::nameless), name->file, sample);
    }
}

}  // namespace

void put_code(const recording::RunFacts& facts, kinds::Tables& tables) {
    auto& samples = tables.of<rows::CodeSample>();
    Names names;
    for (const auto& name : facts.outcome.code)
        names.emplace(std::pair(name.pid, *name.address), &name);
    for (auto& sample : samples) {
        if (!sample.path.empty()) continue;
        if (sample.call != -1) put(call_text(facts.setup.kernel.architecture, sample.call), "kernel", sample);
        put_path(names, sample);
        // Addresses and numbers differ from run to run.
        sample.addresses.clear();
        sample.pid = 0;
    }
    table::fold(samples);
}

}  // namespace stapgen::session
