// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/latency/grouped.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/same_text.h"

namespace stapgen::kinds {

namespace {

std::int64_t size_of(const Groups::Part& part) {
    std::int64_t size = 0;
    for (const auto& measure : part.measures)
        size = std::max(size, measure.n());
    return size;
}

void add_part(Groups::Part& into, const Groups::Part& from) {
    if (into.measures.size() < from.measures.size()) into.measures.resize(from.measures.size());
    for (std::size_t i = 0; i < from.measures.size(); ++i)
        into.measures[i] += from.measures[i];
}

}  // namespace

Groups::Part& Groups::other() {
    if (!other_) other_ = Part{{GroupField{"other", true}}, {}};
    return *other_;
}

Groups::Part& Groups::part_with(std::string_view key, const Group& group) {
    if (const auto found = parts_.find(key); found != parts_.end()) return found->second;
    if (parts_.size() >= max_groups_) return other();
    return parts_.emplace(std::string(key), Part{group, {}}).first->second;
}

namespace {

/// The texts of a record's keys and what is between them, where they stand close together: as those of a line mostly
/// do.
struct KeysInText {
    std::string_view text;     ///< empty: they do not
    std::uint64_t places = 0;  ///< of each key how far it is from the first one, and the size
};

[[gnu::always_inline]] inline KeysInText keys_in_text(const decode::Record& record, const std::vector<GroupKey>& keys) {
    constexpr std::size_t max_keys = 4, max_size = 64, max_gap = 8;
    const auto address = [](std::string_view text) { return reinterpret_cast<std::uintptr_t>(text.data()); };
    const auto first = address(key_text(record, keys.front()));
    auto begin = first, end = first;
    std::size_t size = 0;
    std::uint64_t places = 0;
    for (const auto& key : keys) {
        const auto text = key_text(record, key);
        begin = std::min(begin, address(text));
        end = std::max(end, address(text) + text.size());
        size += text.size();
        places = places << 16U | ((address(text) - first) & 0xffU) << 8U | (text.size() & 0xffU);
    }
    const bool are_close = end - begin - size <= max_gap * keys.size() && end - begin <= max_size;
    if (!are_close || keys.size() > max_keys) return {};
    return {{reinterpret_cast<const char*>(begin), end - begin}, places};
}

}  // namespace

Groups::Part& Groups::part_of(const decode::Record& record, const std::vector<GroupKey>& keys) {
    if (keys.empty()) return ungrouped_;
    const auto [text, places] = keys_in_text(record, keys);
    auto& recent = recent_[recent_place(text)];
    if (recent.part != nullptr && recent.places == places && !text.empty() && base::are_same(recent.text, text))
        return *recent.part;
    key_.clear();
    for (const auto& key : keys) {
        if (&key != &keys.front()) key_ += '\t';
        key_ += key_text(record, key);
    }
    auto found = parts_.find(std::string_view(key_));
    if (found == parts_.end()) {
        if (parts_.size() >= max_groups_) return other();
        found = parts_.emplace(key_, Part{group_of(record, keys), {}}).first;
    }
    recent = {std::string(text), places, &found->second};
    return found->second;
}

Groups& Groups::operator+=(const Groups& from) {
    add_part(ungrouped_, from.ungrouped_);
    for (const auto& [key, part] : from.parts_)
        add_part(part_with(key, part.group), part);
    if (from.other_) add_part(other(), *from.other_);
    return *this;
}

Groups::Part Groups::whole() const {
    Part whole = ungrouped_;
    for (const auto& [key, part] : parts_)
        add_part(whole, part);
    if (other_) add_part(whole, *other_);
    return whole;
}

std::vector<const Groups::Part*> Groups::in_order() const {
    std::vector<std::pair<std::int64_t, const Part*>> sizes;
    for (const auto& [key, part] : parts_)
        sizes.emplace_back(-size_of(part), &part);
    std::ranges::sort(sizes, {}, [](const auto& of) { return std::tie(of.first, of.second->group); });
    std::vector<const Part*> order;
    for (const auto& [size, part] : sizes)
        order.push_back(part);
    if (other_) order.push_back(&*other_);
    return order;
}

}  // namespace stapgen::kinds
