// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decode/record.h"
#include "table/keys.h"

/// Keys by which records are grouped.
namespace stapgen::decode {

/// A field of a record by which it is grouped, or a half of an endpoint.
struct GroupKey {
    std::size_t field = 0;
    enum class Half { whole, address, port } half = Half::whole;
};

/// The key of that name: a field but for parts of stages, "port" for the port of the endpoint `local`, "addr" for the
/// address of the endpoint `remote`. Nothing if there is none.
std::optional<GroupKey> group_key(const Schema& schema, std::string_view name);

/// Those of all of these names; where one of them is not there, or there are none: of the header's own records none, of
/// further kinds their fields with the attribute key.
std::vector<GroupKey> group_keys(const Schema& schema, const std::vector<std::string>& names);

/// Error (bad_input): the header's own records have no such key.
base::Result<void> check_group_keys(const Header& header, const std::vector<std::string>& group_by);

/// The key's text as it stands in the input.
[[gnu::always_inline]] inline std::string_view key_text(const Record& record, const GroupKey& key) {
    const auto raw = record.values[key.field].raw;
    if (key.half == GroupKey::Half::whole) return raw;
    const auto colon = raw.rfind(':');
    return key.half == GroupKey::Half::port ? raw.substr(colon + 1) : raw.substr(0, colon);
}

/// A field of a record as part of a group's name.
table::GroupField group_field(const Record& record, const GroupKey& key);
table::Group group_of(const Record& record, const std::vector<GroupKey>& keys);

}  // namespace stapgen::decode
