// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes are choices: a kernel, addresses in it, what its machine called some of them, and a map of it: the right one,
// one of a build in which all functions from some point on lie elsewhere, or an excerpt. A name is that of a function
// that the address lies in, no further from its start than functions are long; of the right map it is the true one; a
// map that one of the machine's names contradicts is refused.

#include "symbols/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/kernel.h"
#include "choices.h"
#include "fuzz.h"
#include "memory_file.h"
#include "symbols/source_files.h"

namespace {

using namespace stapgen;

struct Function {
    std::string name;
    std::uint64_t start = 0, size = 0;
};

/// One behind the other, with a gap here and there that is longer than any function.
std::vector<Function> make_kernel(fuzz::Choices& choices) {
    std::vector<Function> functions;
    std::uint64_t at = 0xffffffff81000000;
    const auto count = 3 * symbols::of_each_kernel.size() + choices.below(100);
    for (std::size_t i = 0; i < count; ++i) {
        const auto name = i % 3 == 0 && i / 3 < symbols::of_each_kernel.size()
                              ? std::string(symbols::of_each_kernel[i / 3])
                              : fmt::format("{}{}", symbols::in_each_kernel[i % symbols::in_each_kernel.size()], i);
        const auto size = 16 * (1 + choices.below(200)) << (choices.below(8) == 0 ? 6 : 0);
        functions.push_back({name, at, size});
        at += size;
        if (choices.below(16) == 0) at += base::max_function_length + 16 * choices.below(256);
    }
    return functions;
}

std::string map_of(const std::vector<Function>& functions, bool has_marks) {
    std::string map;
    if (has_marks) map = fmt::format("{:x} T _stext\n", functions.front().start);
    for (const auto& function : functions)
        map += fmt::format("{:x} T {}\n", function.start, function.name);
    if (has_marks) map += fmt::format("{:x} T _etext\n", functions.back().start + functions.back().size);
    return map;
}

/// The one that an address lies in; null: none.
const Function* at(const std::vector<Function>& functions, std::uint64_t address) {
    const auto found = std::ranges::find_if(
        functions, [&](const Function& one) { return address >= one.start && address - one.start < one.size; });
    return found == functions.end() ? nullptr : &*found;
}

}  // namespace

FUZZ_TARGET(kernel_names) {
    fuzz::Choices choices(data, size);
    const auto kernel = make_kernel(choices);
    enum Kind { right, neighbouring, excerpted };
    const auto kind = choices.of(std::array{right, neighbouring, excerpted});
    auto given = kernel;
    const auto moved_from = 1 + choices.below(kernel.size() - 1);
    if (kind == neighbouring) {
        const auto by = 16 * (1 + choices.below(256));
        for (auto i = moved_from; i < given.size(); ++i)
            given[i].start += by;
        given[moved_from - 1].size += by;
    }
    if (kind == excerpted) {
        const auto of = 2 + choices.below(6);
        std::erase_if(given, [&](const Function& one) { return (one.start >> 4U) % of != 0; });
        if (given.empty()) return 0;
    }

    std::vector<symbols::NamedAddress> named;
    bool is_contradicted = false;
    for (auto left = choices.below(4); left > 0; --left) {
        const auto index = choices.below(kernel.size());
        const auto& function = kernel[index];
        const auto offset = choices.below(256) % function.size;
        named.push_back({function.start + offset, function.name, offset});
        is_contradicted = is_contradicted || (kind == neighbouring && index >= moved_from);
    }

    const auto map = map_of(given, kind != excerpted || choices.below(2) == 0);
    const fuzz::MemoryFile file(reinterpret_cast<const std::uint8_t*>(map.data()), map.size());
    auto names = symbols::KernelNames::open({{file.path()}, {}, {}, {}}, {});
    if (!names) {
        fuzz::always(kind == excerpted && names.error().kind == base::ErrorKind::bad_input);
        return 0;
    }
    if (const auto heard = names->check_names(named); !heard) {
        fuzz::always(kind != right && heard.error().kind == base::ErrorKind::bad_input && !heard.error().hint.empty());
        return 0;
    }
    fuzz::always(!is_contradicted);

    for (int i = 0; i < 64; ++i) {
        const auto& near = kernel[choices.below(kernel.size())];
        const auto address = near.start + (choices.below(256) << choices.below(12));
        const auto name = names->find(address, symbols::AddressKind::exact);
        if (!name.symbol) {
            if (kind == right)
                fuzz::always(at(kernel, address) == nullptr || address - near.start >= base::max_function_length);
            continue;
        }
        const auto& symbol = *name.symbol;
        fuzz::always(symbol.offset < symbol.size && symbol.size <= base::max_function_length);
        const auto known = std::ranges::find(given, symbol.name, &Function::name);
        fuzz::always(symbol.name == "_stext" || (known != given.end() && known->start + symbol.offset == address));
        if (kind != right) continue;
        // Behind a function's end, up to the next one, a table of names cannot tell padding from code.
        const auto* truth = at(kernel, address);
        fuzz::always(truth == nullptr || truth->name == symbol.name || symbol.name == "_stext");
    }
    return 0;
}
