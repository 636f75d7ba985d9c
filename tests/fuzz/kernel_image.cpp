// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/kernel_image.h"

#include <utility>

#include "fuzz.h"
#include "memory_file.h"
#include "symbols/drop_reasons.h"
#include "symbols/files/symbol_table.h"

using namespace stapgen;

/// A vmlinux or vmlinuz, and what is made of its symbols and types.
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
    if (const auto reasons = symbols::DropReasons::from_btf(image->btf())) fuzz::always(reasons->guess().empty());

    if (auto text = image->symbol_text(); !text.empty()) {
        const auto table = symbols::SymbolTable::parse(std::move(text), "nm");
        fuzz::always(table || !table.error().hint.empty());
    }
    return 0;
}
