// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/kernel_image.h"

#include <algorithm>
#include <string>

#include "fuzz.h"
#include "memory_file.h"
#include "symbols/drop_reasons.h"
#include "symbols/files/symbol_table.h"
#include "symbols/kaslr/drop_sites.h"

using namespace stapgen;

/// A vmlinux or vmlinuz, and what is made of its symbols, code and types.
FUZZ_TARGET(kernel_image) {
    const fuzz::MemoryFile file(data, size);
    auto bytes = symbols::FileBytes::read(file.path());
    if (!bytes) return 0;
    const auto image = symbols::KernelImage::read(*std::move(bytes), "image");
    if (!image) {
        fuzz::always(!image.error().what.empty() && !image.error().hint.empty());
        return 0;
    }
    fuzz::always(symbols::KernelImage::looks_like_one(fuzz::text_of(data, size)) || size < 4 || data[0] != 0x7f);
    fuzz::always(image->build_id().find_first_not_of("0123456789abcdef") == std::string::npos);
    fuzz::always(image->release().size() <= 64);
    fuzz::always(std::ranges::is_sorted(image->code(), {}, &symbols::CodeRange::address));
    unsigned sum = 0;
    for (const auto& range : image->code()) {
        fuzz::always(!range.bytes.empty());
        for (const auto byte : range.bytes)
            sum += static_cast<unsigned>(byte);
    }
    if (const auto reasons = symbols::DropReasons::from_btf(image->btf())) fuzz::always(sum + 1 > 0);

    auto text = image->symbol_text();
    if (text.empty()) return 0;
    const auto table = symbols::SymbolTable::parse(std::move(text), "nm");
    if (!table) return 0;
    const auto sites = symbols::DropSites::from_code(*image, *table);
    for (const auto& range : sites.ranges())
        fuzz::always(range.end == range.begin + 1 && sites.contains(range.begin));
    fuzz::always(std::ranges::is_sorted(sites.ranges(), {}, &symbols::DropSites::Range::begin));
    return 0;
}
