#include "symbols/kaslr/drop_sites.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "base/text.h"
#include "symbols/kaslr/call_sites.h"
#include "symbols/kaslr/drop_functions.h"

namespace stapgen::symbols {

namespace {

/// They give the tracepoint their own return address: net/core/skbuff.c of Linux up to 5.16; up to 6.10; later. Others
/// (kfree_skb_list_reason of 6.4 and later) are found by their call of the tracepoint.
constexpr std::array<std::string_view, 3> free_as_dropped{"kfree_skb", "kfree_skb_reason", "sk_skb_reason_drop"};

/// What a tracepoint's caller calls: arch/x86 since 5.10 (a static call); elsewhere since 5.10.
constexpr std::array<std::string_view, 2> tracepoint_calls{"__SCT__tp_func_kfree_skb", "__traceiter_kfree_skb"};

/// They give the tracepoint their own address: net/core/dev.c; net/ipv4/udp.c and net/ipv6/udp.c of older kernels.
constexpr std::array<std::string_view, 3> own_address{"net_tx_action", "udp_recvmsg", "udpv6_recvmsg"};

constexpr std::string_view cold = ".cold";

class SiteFinder {
  public:
    SiteFinder(std::span<const CodeRange> code, Architecture architecture, const SymbolTable& table)
        : code_(code),
          architecture_(architecture),
          table_(table),
          references_(find_references(code, architecture, table)) {}

    std::vector<std::uint64_t> find() {
        for (const auto name : free_as_dropped)
            add_targets(name);
        for (const auto name : tracepoint_calls) {
            for (const auto start : table_.addresses_of(name)) {
                for (const auto& reference : to(start)) {
                    if (!reference.jump) add_target(reference.next - 1);
                }
            }
        }
        while (!open_.empty()) {
            const auto target = open_.back();
            open_.pop_back();
            for (const auto& reference : to(target)) {
                if (reference.jump) {
                    add_target(reference.next - 1);
                } else {
                    sites_.push_back(reference.next);
                }
            }
        }
        for (const auto name : own_address) {
            const auto starts = table_.addresses_of(name);
            sites_.insert(sites_.end(), starts.begin(), starts.end());
        }
        add_calls_through_pointers();
        std::ranges::sort(sites_);
        sites_.erase(std::unique(sites_.begin(), sites_.end()), sites_.end());
        return std::move(sites_);
    }

  private:
    [[nodiscard]] std::span<const CodeReference> to(std::uint64_t target) const {
        const auto first = std::ranges::lower_bound(references_, target, {}, &CodeReference::target);
        return {first, std::ranges::upper_bound(references_, target, {}, &CodeReference::target)};
    }

    void add_targets(std::string_view name) {
        for (const auto start : table_.addresses_of(name)) {
            if (known_.insert(start).second) open_.push_back(start);
        }
    }

    /// The function that `address` lies in; for its unlikely part that the compiler put elsewhere, all of it.
    void add_target(std::uint64_t address) {
        const auto function = table_.find(address);
        if (!function || function->init_text || function->module) return;
        if (known_.insert(address - function->offset).second) open_.push_back(address - function->offset);
        if (function->name.ends_with(cold)) add_targets(function->name.substr(0, function->name.size() - cold.size()));
    }

    /// A function that ends in a jump may be called through a pointer, or be a module's.
    void add_calls_through_pointers() {
        const auto functions = DropSites::from_names(table_, base::words(passing_on_by_pointer));
        for (const auto& [begin, end] : functions.ranges()) {
            const auto calls = find_indirect_calls(code_, architecture_, table_, begin, end);
            sites_.insert(sites_.end(), calls.begin(), calls.end());
        }
    }

    std::span<const CodeRange> code_;
    Architecture architecture_;
    const SymbolTable& table_;
    std::vector<CodeReference> references_;
    std::vector<std::uint64_t> open_, sites_;
    std::unordered_set<std::uint64_t> known_;
};

}  // namespace

std::string_view source_name(std::string_view symbol) {
    return symbol.substr(0, symbol.find('.', 1));
}

std::span<const std::string_view> known_drop_functions() {
    static const auto names = base::words(drop_functions);
    return names;
}

DropSites DropSites::from_code(std::span<const CodeRange> code, Architecture architecture, const SymbolTable& table) {
    DropSites sites;
    sites.exact_ = true;
    for (const auto site : SiteFinder(code, architecture, table).find())
        sites.ranges_.push_back({site, site + 1});
    return sites;
}

DropSites DropSites::from_names(const SymbolTable& table, std::span<const std::string_view> sorted_names) {
    DropSites sites;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto [start, symbol] = table.function(i);
        if (symbol.module || symbol.init_text) continue;
        const auto name = source_name(symbol.name);
        if (!std::ranges::binary_search(sorted_names, name)) continue;
        sites.ranges_.push_back({start, start + symbol.size});
    }
    return sites;
}

bool DropSites::contains(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
    return after != ranges_.begin() && address < (after - 1)->end;
}

}  // namespace stapgen::symbols
