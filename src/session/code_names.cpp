// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/code_names.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "analyze/names.h"
#include "base/text.h"
#include "decode/record.h"
#include "kinds/functions/functions.h"
#include "symbols/user/process_names.h"
#include "symbols/user/system_calls.h"
#include "table/merge.h"
#include "table/texts.h"

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

void put_samples(const recording::RunFacts& facts, const Names& names, kinds::Measured& measured) {
    auto& samples = measured.of<rows::CodeSample>();
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

void put_locks(const Names& names, kinds::Measured& measured) {
    if (names.empty()) return;
    analyze::name_groups(measured,
                         [&](const table::Group& group, const table::GroupField& field) -> std::optional<std::string> {
                             const auto* by = field.key == "by" ? std::get_if<std::string>(&field.value) : nullptr;
                             const auto* of = by != nullptr ? table::find_field(group, "tid") : nullptr;
                             const auto* tid = of != nullptr ? std::get_if<std::int64_t>(&of->value) : nullptr;
                             const auto address = tid != nullptr ? lock_address(*by) : std::nullopt;
                             const auto found = address ? names.find({*tid, *address}) : names.end();
                             if (found == names.end()) return std::nullopt;
                             const auto& name = *found->second;
                             return symbols::user::text_of({name.file, name.build_id, name.place, name.symbol}, "");
                         });
}

}  // namespace

std::optional<std::uint64_t> lock_address(std::string_view by) {
    constexpr std::string_view prefix = "0x";
    if (!by.starts_with(prefix)) return std::nullopt;
    return base::from_hex(by.substr(prefix.size()));
}

void put_code(const recording::RunFacts& facts, kinds::Measured& measured) {
    Names names;
    for (const auto& name : facts.outcome.code)
        names.emplace(std::pair(name.pid, *name.address), &name);
    put_samples(facts, names, measured);
    put_locks(names, measured);
}

}  // namespace stapgen::session
