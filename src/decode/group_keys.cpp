// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/group_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace stapgen::decode {

std::optional<GroupKey> group_key(const Schema& schema, std::string_view name) {
    if (schema::is_part(name)) return std::nullopt;
    if (const auto field = schema.find(name)) return GroupKey{*field};
    const auto half_of = [&](std::string_view endpoint, GroupKey::Half half) -> std::optional<GroupKey> {
        const auto field = schema.find(endpoint);
        if (!field || schema.fields[*field].type != FieldType::endpoint) return std::nullopt;
        return GroupKey{*field, half};
    };
    if (name == "port") return half_of("local", GroupKey::Half::port);
    return name == "addr" ? half_of("remote", GroupKey::Half::address) : std::nullopt;
}

std::vector<GroupKey> group_keys(const Schema& schema, const std::vector<std::string>& names) {
    std::vector<GroupKey> keys;
    for (const auto& name : names) {
        const auto key = group_key(schema, name);
        if (!key) {
            keys.clear();
            break;
        }
        keys.push_back(*key);
    }
    if (!keys.empty() || schema.index == 0) return keys;
    for (const auto& name : schema.keys())
        if (const auto key = group_key(schema, name)) keys.push_back(*key);
    return keys;
}

base::Result<void> check_group_keys(const Header& header, const std::vector<std::string>& group_by) {
    const auto& schema = header.schemas.front();
    std::vector<std::string> names;
    for (const auto& field : schema.fields)
        if (group_key(schema, field.name)) names.push_back(field.name);
    for (const char* half : {"port", "addr"})
        if (!schema.find(half) && group_key(schema, half)) names.emplace_back(half);
    for (const auto& name : group_by) {
        if (group_key(schema, name)) continue;
        const auto what = fmt::format("the records of {} have no field '{}' to group by",
                                      base::printable(header.recipe), base::printable(name));
        if (base::contains_word("container cgroup netns", name))
            return base::bad_input(what, fmt::format("only a measurement with --by {} has it: record again", name));
        const auto near = base::did_you_mean(name, names);
        return base::bad_input(what, near ? fmt::format("did you mean '{}'?", *near)
                                          : fmt::format("they have {}", fmt::join(names, ", ")));
    }
    return {};
}

table::GroupField group_field(const Record& record, const GroupKey& key) {
    const auto& field = record.schema->fields[key.field];
    const auto& value = record.values[key.field];
    if (key.half == GroupKey::Half::port) return {"port", base::to_int(key_text(record, key)).value_or(0)};
    if (key.half == GroupKey::Half::address) return {"addr", endpoint_text(key_text(record, key))};
    if (field.type == FieldType::text) return {field.name, unescape(value.raw)};
    if (field.type == FieldType::endpoint || field.type == FieldType::ip) return {field.name, endpoint_text(value.raw)};
    if (field.type == FieldType::address) return {field.name, fmt::format("0x{:x}", value.address())};
    if (!value.seen) return {field.name, std::string("-")};
    return {field.name, value.number};
}

table::Group group_of(const Record& record, const std::vector<GroupKey>& keys) {
    table::Group group;
    for (const auto& key : keys)
        group.push_back(group_field(record, key));
    return group;
}

}  // namespace stapgen::decode
