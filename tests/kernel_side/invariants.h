// What holds of a table of queues at any time when no lock is held. Included behind "c/queues.h".
#pragma once

#include <stdexcept>

#include "world.h"

inline void must(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

/// How many rows are in use; each is in one list and in the order of its shard, forwards as backwards, and each other
/// one is free in one place.
inline u32 rows_in_use(const stapgen_table& table) {
    std::vector<int> seen(table.capacity + 1);
    u32 used = 0, listed = 0;
    for (int shard = 0; shard < STAPGEN_SHARDS; ++shard) {
        must(!table.locks[shard].lock.bit, "a lock was not given back");
        u32 before = 0;
        for (u32 at = table.shards[shard].oldest; at != 0; at = table.rows[at].newer) {
            must(at <= table.capacity && seen[at]++ == 0, "a shard's order has a loop");
            must(table.rows[at].older == before, "a shard's order differs backwards");
            must(table.rows[at].queue != 0, "a row of a shard is free");
            must(stapgen_shard_number(table.rows[at].queue) == shard, "a row is in another's shard");
            before = at;
            ++used;
        }
        const auto oldest = table.shards[shard].oldest;
        must(oldest == 0 || table.rows[oldest].since == table.shards[shard].since, "a shard's age is not its oldest's");
        must(table.shards[shard].newest == before, "a shard ends elsewhere");
    }
    for (u32 list = 0; list < 1U << table.bits; ++list) {
        u32 before = 0;
        for (u32 at = table.lists[list].first; at != 0; at = table.rows[at].next) {
            must(at <= table.capacity && seen[at]++ == 1, "a list has a loop, or a row that no shard has");
            must(table.rows[at].before == before, "a list differs backwards");
            must(stapgen_hash(table.rows[at].queue, table.bits) == list, "a row is in another's list");
            before = at;
            ++listed;
        }
        must(table.lists[list].last == before, "a list ends elsewhere");
    }
    must(used == listed, "a row is in a shard and in no list");
    u32 free = 0;
    const auto count_batch = [&](u32 at, u32 rows) {
        for (; rows != 0; --rows, at = table.rows[at].next) {
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
    for (u32 at = static_cast<u32>(table.pool->first); at != 0; at = table.rows[at].newer)
        count_batch(at, table.batch);
    must(used + free == table.pool->touched, "rows are lost");
    return used;
}

/// As in a module that was just loaded.
inline void clear(const stapgen_table& table) {
    std::fill_n(table.rows, table.capacity + 1, stapgen_row{});
    std::fill_n(table.lists, 1U << table.bits, stapgen_head_tail{});
    std::fill_n(table.shards, STAPGEN_SHARDS, stapgen_shard{});
    std::fill_n(table.none_before, STAPGEN_GROUPS, 0);
    for (int cpu = 0; cpu < SHIM_CPUS; ++cpu)
        table.free[cpu] = {};
    *table.pool = {};
}
inline void clear(const stapgen_set& set) {
    std::memset(set.places, 0, set.size * STAPGEN_PLACES << set.bits);
}
