// SPDX-License-Identifier: GPL-2.0-or-later
// What holds of a table of queues at any time when no lock is held. Included behind "c/queues.h".
#pragma once

#include <stdexcept>

#include "world.h"

inline void must(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

/// How many rows are in use; each is in one list, forwards as backwards, and each other one is free in one place.
inline u32 rows_in_use(const stapgen_table& table) {
    std::vector<int> seen(table.capacity + 1);
    u32 used = 0;
    for (u32 list = 0; list < STAPGEN_LISTS; ++list) {
        must(!table.locks[list].lock.bit, "a lock was not given back");
        u32 before = 0;
        for (u32 at = table.lists[list].first; at != 0; at = stapgen_row_at(&table, at)->next) {
            const auto* row = stapgen_row_at(&table, at);
            must(at <= table.capacity && seen[at]++ == 0, "a list has a loop, or a row of another one");
            must(row->before == before, "a list differs backwards");
            must(row->queue != 0, "a row of a list is free");
            must(stapgen_hash(row->queue, STAPGEN_LIST_BITS) == list, "a row is in another's list");
            before = at;
            ++used;
        }
        must(table.lists[list].last == before, "a list ends elsewhere");
        const auto first = table.lists[list].first;
        for (u32 level = STAPGEN_LEVELS, node = list; first != 0 && level-- > 0; node >>= STAPGEN_FORK_BITS)
            must(table.ages->of[level][node] >= ~static_cast<u64>(stapgen_row_at(&table, first)->since),
                 "a row is older than its fork says");
    }
    u32 free = 0;
    const auto count_batch = [&](u32 at, u32 rows) {
        for (; rows != 0; --rows, at = stapgen_row_at(&table, at)->next) {
            must(at != 0 && at <= table.capacity && seen[at]++ == 0, "a free row is used, or free twice");
            ++free;
        }
    };
    for (int cpu = 0; cpu < SHIM_CPUS; ++cpu) {
        const auto& of_cpu = table.free[cpu];
        must(of_cpu.count <= table.batch, "a CPU keeps too many rows");
        count_batch(of_cpu.first, of_cpu.count);
        if (of_cpu.batch != 0) count_batch(of_cpu.batch, table.batch);
    }
    for (u32 at = static_cast<u32>(table.pool->first); at != 0; at = stapgen_row_at(&table, at)->batch)
        count_batch(at, table.batch);
    must(used + free == table.pool->touched, "rows are lost");
    return used;
}

/// As in a module that was just loaded.
inline void clear(const stapgen_table& table) {
    std::memset(table.rows, 0, table.size * (table.capacity + 1));
    std::fill_n(table.lists, STAPGEN_LISTS, stapgen_list{});
    *table.ages = {};
    for (int cpu = 0; cpu < SHIM_CPUS; ++cpu)
        table.free[cpu] = {};
    *table.pool = {};
}
inline void clear(const stapgen_set& set) {
    std::memset(set.places, 0, set.size * STAPGEN_PLACES << set.bits);
}
