#include "decode/skb_table.h"

#include <algorithm>

namespace stapgen::decode {

void SkbTable::Entry::set_device(std::string_view device) {
    device_text = {};
    std::ranges::copy(device.substr(0, device_text.size() - 1), device_text.begin());
}

SkbTable::Entry* SkbTable::first_of(std::uint64_t address) {
    // Fibonacci hashing: 2^64 / golden ratio. The low bits of addresses are alike.
    const auto hash = (address * 0x9e3779b97f4a7c15U) >> 32;
    return &entries_[hash % (size / neighbours) * neighbours];
}

SkbTable::Entry* SkbTable::find(std::uint64_t address) {
    if (entries_.empty()) return nullptr;
    Entry* const begin = first_of(address);
    Entry* const found =
        std::find_if(begin, begin + neighbours, [&](const Entry& entry) { return entry.address == address; });
    return address == 0 || found == begin + neighbours ? nullptr : found;
}

bool SkbTable::put(std::uint64_t address, std::int64_t first_ns, std::string_view device) {
    if (address == 0) return false;
    if (entries_.empty()) entries_.resize(size);
    Entry* entry = find(address);
    if (entry == nullptr) {
        Entry* const begin = first_of(address);
        entry = std::min_element(begin, begin + neighbours, [](const Entry& a, const Entry& b) {
            if ((a.address == 0) != (b.address == 0)) return a.address == 0;
            return a.first_ns < b.first_ns;
        });
    }
    const bool pushed_out = entry->address != 0 && !entry->gone;
    *entry = Entry{.address = address, .first_ns = first_ns};
    entry->set_device(device);
    return pushed_out;
}

std::int64_t SkbTable::count() const {
    return std::ranges::count_if(entries_, [](const Entry& entry) { return entry.address != 0 && !entry.gone; });
}

}  // namespace stapgen::decode
