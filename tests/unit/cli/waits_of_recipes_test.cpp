// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "kinds/latency/waits.h"
#include "recipe/catalog.h"
#include "schema/schema.h"

using namespace stapgen;

TEST_CASE("each part of the shipped recipes has its wait, and each wait is a part or a stage of theirs") {
    std::set<std::string> parts, stages, known_parts;
    for (const auto& recipe : recipe::load_catalog({{SOURCE_DIR "/templates"}}).recipes) {
        for (const auto& field : recipe.record.fields) {
            if (field.type != schema::FieldType::stage) continue;
            (schema::divided_stage(field.name).empty() ? stages : parts).insert(field.name);
        }
    }
    REQUIRE_FALSE(stages.empty());
    for (const auto& part : parts) {
        CAPTURE(part);
        CHECK(kinds::latency::wait_of(part) != nullptr);
    }
    for (const auto& wait : kinds::latency::known_waits()) {
        for (const auto& name : wait.names()) {
            CAPTURE(name);
            CHECK((wait.cause.empty() ? stages : parts).contains(name));
        }
    }
}
