#include "symbols/kaslr/call_sites.h"

#include <algorithm>
#include <string_view>

namespace stapgen::symbols {

namespace {

using Bytes = std::span<const std::byte>;

unsigned byte_at(Bytes bytes, std::size_t index) {
    return std::to_integer<unsigned>(bytes[index]);
}

std::uint32_t word_at(Bytes bytes, std::size_t index) {
    return byte_at(bytes, index) | byte_at(bytes, index + 1) << 8U | byte_at(bytes, index + 2) << 16U |
           byte_at(bytes, index + 3) << 24U;
}

/// A number of `bits` bits with its sign, as an amount to add to an address.
std::uint64_t signed_offset(std::uint32_t value, int bits) {
    const auto shift = static_cast<unsigned>(64 - bits);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift);
}

/// Calls `seen` with each reference in the code, whatever it points to.
/// Opcodes: Intel 64 Architectures Software Developer's Manual, volume 2 (CALL E8, JMP E9, Jcc 0F 80 to 0F 8F, each
/// with a 32-bit offset); Arm Architecture Reference Manual (B, BL: 26 bits, in words).
template <class Seen>
void references_of(const CodeRange& range, Architecture architecture, Seen seen) {
    const auto bytes = range.bytes;
    if (architecture == Architecture::x86_64) {
        for (std::size_t i = 0; i + 5 <= bytes.size(); ++i) {
            const auto opcode = byte_at(bytes, i);
            const bool conditional = (opcode & 0xf0U) == 0x80 && i > 0 && byte_at(bytes, i - 1) == 0x0f;
            if (opcode != 0xe8 && opcode != 0xe9 && !conditional) continue;
            const auto next = range.address + i + 5;
            seen(CodeReference{next + signed_offset(word_at(bytes, i + 1), 32), next, opcode != 0xe8});
        }
    } else if (architecture == Architecture::arm64) {
        for (std::size_t i = (4 - range.address % 4) % 4; i + 4 <= bytes.size(); i += 4) {
            const auto word = word_at(bytes, i);
            if ((word & 0x7c000000U) != 0x14000000U) continue;
            const auto here = range.address + i;
            seen(CodeReference{here + signed_offset(word & 0x03ffffffU, 26) * 4, here + 4, (word & 0x80000000U) == 0});
        }
    }
}

/// How long a `call` through a register or through memory is that begins with ff at `i`; 0 if it is none.
std::size_t length_of_pointer_call(Bytes bytes, std::size_t i) {
    if (i + 2 > bytes.size() || byte_at(bytes, i) != 0xff) return 0;
    const auto modrm = byte_at(bytes, i + 1);
    if ((modrm >> 3U & 7U) != 2) return 0;
    const auto mode = modrm >> 6U;
    const auto base = modrm & 7U;
    if (mode == 3) return 2;
    const std::size_t sib = base == 4 ? 1 : 0;
    if (mode == 1) return 3 + sib;
    if (mode == 2) return 6 + sib;
    if (base == 5) return 6;
    return 2 + sib;
}

}  // namespace

std::vector<CodeReference> find_references(std::span<const CodeRange> code, Architecture architecture,
                                           const SymbolTable& table) {
    std::vector<std::uint64_t> starts;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto function = table.function(i);
        if (!function.symbol.module && !function.symbol.init_text) starts.push_back(function.start);
    }
    std::vector<CodeReference> references;
    for (const auto& range : code) {
        if (range.init || starts.empty()) continue;
        references_of(range, architecture, [&](const CodeReference& reference) {
            if (reference.target < starts.front() || reference.target > starts.back()) return;
            if (std::ranges::binary_search(starts, reference.target)) references.push_back(reference);
        });
    }
    std::ranges::sort(references, [](const CodeReference& a, const CodeReference& b) {
        return a.target != b.target ? a.target < b.target : a.next < b.next;
    });
    return references;
}

std::vector<std::uint64_t> find_indirect_calls(std::span<const CodeRange> code, Architecture architecture,
                                               const SymbolTable& table, std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> found;
    for (const auto& whole : code) {
        const auto whole_end = whole.address + whole.bytes.size();
        const auto first = std::max(begin, whole.address);
        const auto last = std::min(end, whole_end);
        if (first >= last) continue;
        const CodeRange range{first, whole.bytes.subspan(first - whole.address, last - first), whole.init};
        if (architecture == Architecture::arm64) {
            for (std::size_t i = (4 - first % 4) % 4; i + 4 <= range.bytes.size(); i += 4) {
                const bool blr = (word_at(range.bytes, i) & 0xfffffc1fU) == 0xd63f0000U;
                const bool blr_signed = (word_at(range.bytes, i) & 0xfefff800U) == 0xd63f0800U;  // blraa, blrab, ...
                if (blr || blr_signed) found.push_back(first + i + 4);
            }
            continue;
        }
        references_of(range, architecture, [&](const CodeReference& reference) {
            if (reference.jump) return;
            const auto target = table.find(reference.target);
            if (!target || target->name.find("__x86_indirect_") == std::string_view::npos) return;
            found.insert(found.end(), {reference.next - 3, reference.next - 2, reference.next});
        });
        for (std::size_t i = 0; architecture == Architecture::x86_64 && i < range.bytes.size(); ++i) {
            if (const auto length = length_of_pointer_call(range.bytes, i); length != 0) {
                found.push_back(first + i + length);
            }
        }
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace stapgen::symbols
