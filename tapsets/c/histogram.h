/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aggregation in the kernel: what records would have said, as counts in bins. docs/reference/recording-format.md, bin,
 * sum, split and slow. Counts only grow, each CPU has a stripe of its own (of more CPUs than stripes some share one),
 * and what was printed last is kept, so that printing stops nobody.
 *
 * STAPGEN_FIELDS and the other macros of a recipe's fields are said in stages.h. STAPGEN_SLOWEST: the number of records
 * at least are printed, those of the highest bins of totals. */
#ifndef STAPGEN_HISTOGRAM_H
#define STAPGEN_HISTOGRAM_H

#include <linux/bitops.h>
#include <linux/smp.h>

#include "line.h"
#include "lock.h"
#include "read.h"
#include "stages.h"
#include "waits.h"

#ifndef STAPGEN_FIELDS
#define STAPGEN_FIELDS 16
#endif
#ifndef STAPGEN_PARTS
#define STAPGEN_PARTS STAPGEN_FIELDS
#endif
#ifndef STAPGEN_UNSPLIT
#define STAPGEN_UNSPLIT 0
#endif
#ifndef STAPGEN_SLOWEST
#define STAPGEN_SLOWEST 10
#endif
/* As schema/bins.h: 256 to each doubling, up to 2^41 - 1 ns. Of totals 32. */
enum { STAPGEN_BIN_BITS = 9, STAPGEN_TOTAL_BITS = 6 };
enum { STAPGEN_BINS = 34 * 256, STAPGEN_TOTALS = 37 * 32, STAPGEN_STRIPES = 8 };
#define STAPGEN_LARGEST ((1LL << 41) - 1)

struct stapgen_aggregated {
    u32 bin[STAPGEN_FIELDS][STAPGEN_BINS];
    u64 outside[STAPGEN_FIELDS], sum[STAPGEN_FIELDS];                 /* outside: above the bins */
    u64 split[STAPGEN_DIRECTIONS][STAPGEN_TOTALS][STAPGEN_PARTS + 1]; /* the records, then the sum of each stage */
};
struct stapgen_stripe {
    struct stapgen_aggregated of;
    unsigned long is_used[STAPGEN_FIELDS][BITS_TO_LONGS(STAPGEN_BINS)];
    unsigned long is_split[STAPGEN_DIRECTIONS][BITS_TO_LONGS(STAPGEN_TOTALS)];
    s64 above_min[STAPGEN_FIELDS]; /* the smallest since the start and 1; 0: none */
    s64 max[STAPGEN_FIELDS];
    struct stapgen_lock lock;
} ____cacheline_aligned;
static struct stapgen_stripe stapgen_stripes[STAPGEN_STRIPES];
static struct stapgen_aggregated stapgen_printed;
/* The slowest so far are those of the totals above a bin: its number, above how many records these are. */
static unsigned long stapgen_slow[STAPGEN_DIRECTIONS];
enum { STAPGEN_SLOW_SHIFT = BITS_PER_LONG / 2 };
static struct stapgen_line stapgen_printing; /* of the one handler that prints what was aggregated at a time */

#define STAPGEN_GROW(number, by) WRITE_ONCE(number, (number) + (by))

static inline int stapgen_bin_of(s64 value, int bits) {
    int width = fls64(value), shift = width > bits ? width - bits : 0;
    return (shift << (bits - 1)) + (int)(value >> shift);
}
static inline s64 stapgen_lowest_of(int bin) {
    int shift = bin / 256 > 1 ? bin / 256 - 1 : 0;
    return (s64)(bin - shift * 256) << shift;
}

static inline void stapgen_add_value(struct stapgen_stripe* stripe, int field, s64 value) {
    struct stapgen_aggregated* of = &stripe->of;
    if (field < 0 || field >= STAPGEN_FIELDS) return;
    if (value > STAPGEN_LARGEST) {
        STAPGEN_GROW(of->outside[field], 1);
    } else {
        int bin = stapgen_bin_of(value, STAPGEN_BIN_BITS);
        u32 *count = &of->bin[field][bin], had = *count;
        if (!had) __set_bit(bin, stripe->is_used[field]);
        WRITE_ONCE(*count, had + 1);
    }
    if ((u64)value < (u64)stripe->above_min[field] - 1) WRITE_ONCE(stripe->above_min[field], value + 1);
    if (value > stripe->max[field]) WRITE_ONCE(stripe->max[field], value);
    STAPGEN_GROW(of->sum[field], value);
}

/* A value that is no stage, of a record that is aggregated, too. */
static inline void stapgen_aggregate_value(int field, s64 value) {
    struct stapgen_stripe* stripe = &stapgen_stripes[(unsigned)smp_processor_id() % STAPGEN_STRIPES];
    stapgen_lock(&stripe->lock);
    stapgen_add_value(stripe, field, value);
    stapgen_unlock(&stripe->lock);
}

/* Whether a record that was just added to a bin of totals is among the slowest: in the highest bins that have
 * STAPGEN_SLOWEST records together. */
static inline int stapgen_is_slow(int direction, int bin) {
    unsigned long had, from, above;
    do {
        had = READ_ONCE(stapgen_slow[direction]);
        from = had >> STAPGEN_SLOW_SHIFT;
        if (bin <= (int)from) return 0;
        above = (had & ((1UL << STAPGEN_SLOW_SHIFT) - 1)) + 1;
        while (above >= STAPGEN_SLOWEST && from < STAPGEN_TOTALS - 1) {
            u64 records = 0;
            int stripe;
            from++;
            for (stripe = 0; stripe < STAPGEN_STRIPES; stripe++)
                records += READ_ONCE(stapgen_stripes[stripe].of.split[direction][from][0]);
            /* Another CPU's may be in its bin and not be counted yet. */
            above = above > records ? above - records : 0;
        }
    } while (cmpxchg(&stapgen_slow[direction], had, from << STAPGEN_SLOW_SHIFT | above) != had);
    return 1;
}

/* One record: the stages from number FIRST on, and the total, the next field; HAS has a bit for each that there is.
 * What it has waited for, NULL for nothing: the cause 0 is, or would be, the field PARTS. Whether it is among the
 * slowest so far, within a bin of totals: then it is to be printed, behind "slow". */
static inline int stapgen_aggregate_divided(int direction, int first, u32 has, const s64* value,
                                            const struct stapgen_waits* waits, int parts) {
    enum { FIELDS = STAPGEN_FIELDS < STAPGEN_RECORD_FIELDS ? STAPGEN_FIELDS : STAPGEN_RECORD_FIELDS };
    struct stapgen_stripe* stripe = &stapgen_stripes[(unsigned)smp_processor_id() % STAPGEN_STRIPES];
    u32 fields = has & ((1U << FIELDS) - 1), said;
    int bin;
    s64 sum = 0;
    u64* split;
    if (direction < 0 || direction >= STAPGEN_DIRECTIONS || first < 0) return 0;
    for (said = fields & ~(1U << STAPGEN_TOTAL); said; said &= said - 1)
        if (value[__ffs(said)] > 0) sum += value[__ffs(said)];
    if (has >> STAPGEN_TOTAL & 1) sum = value[STAPGEN_TOTAL];
    bin = stapgen_bin_of(sum <= STAPGEN_LARGEST ? sum : STAPGEN_LARGEST, STAPGEN_TOTAL_BITS);
    split = stripe->of.split[direction][bin];
    stapgen_lock(&stripe->lock);
    if (!split[0]) __set_bit(bin, stripe->is_split[direction]);
    STAPGEN_GROW(split[0], 1);
    for (said = fields; said; said &= said - 1) {
        int i = __ffs(said);
        if (value[i] < 0) continue;
        stapgen_add_value(stripe, first + i, value[i]);
        if (i < STAPGEN_TOTAL && first + i < STAPGEN_PARTS) STAPGEN_GROW(split[first + i + 1], value[i]);
    }
    for (said = STAPGEN_WAITS && waits ? waits->said : 0; said; said &= said - 1) {
        int cause = __ffs(said), part = parts + cause;
        if (waits->ns[cause] <= 0) continue;
        stapgen_add_value(stripe, part, waits->ns[cause]);
        part -= STAPGEN_UNSPLIT;
        if (part >= 0 && part < STAPGEN_PARTS) STAPGEN_GROW(split[part + 1], waits->ns[cause]);
    }
    stapgen_unlock(&stripe->lock);
    return stapgen_is_slow(direction, bin);
}
/* The same of STAPGEN_RECORD_FIELDS values, STAPGEN_NO_STAGE where there is none. */
static inline int stapgen_aggregate_values(int direction, int first, const s64* value,
                                           const struct stapgen_waits* waits, int parts) {
    u32 has = 0;
    int i;
    for (i = 0; i < STAPGEN_RECORD_FIELDS; i++)
        if (value[i] >= 0) has |= 1U << i;
    return stapgen_aggregate_divided(direction, first, has, value, waits, parts);
}
static inline int stapgen_aggregate_record(int direction, int first, const s64* value) {
    return stapgen_aggregate_values(direction, first, value, NULL, 0);
}

static inline void stapgen_begin_aggregated(struct stapgen_line* line, const char* what, const char* tag,
                                            const char* name) {
    line->length = 0;
    stapgen_put_text(line, what);
    stapgen_put_text(line, tag);
    stapgen_put_byte(line, '\t');
    stapgen_put_text(line, name);
}
/* What was aggregated of a field since it was last printed: its bin and sum lines. The smallest and the largest value
 * are those since the start where they are in the bins that are printed, else the borders of these. */
static inline void stapgen_print_histogram(const char* tag, const char* name, int field) {
    enum { PAIRS_A_LINE = 24 };
    struct stapgen_line* line = &stapgen_printing;
    int word, stripe, pairs = 0, lowest = -1, highest = -1;
    u64 n = 0, sum = 0;
    s64 min = -1, max = -1;
    if (field < 0 || field >= STAPGEN_FIELDS) field = 0;
    for (stripe = 0; stripe < STAPGEN_STRIPES; stripe++) {
        s64 least = READ_ONCE(stapgen_stripes[stripe].above_min[field]) - 1;
        s64 most = READ_ONCE(stapgen_stripes[stripe].max[field]);
        if (least >= 0 && (min < 0 || least < min)) min = least;
        if (most > max) max = most;
        n += READ_ONCE(stapgen_stripes[stripe].of.outside[field]);
        sum += READ_ONCE(stapgen_stripes[stripe].of.sum[field]);
    }
    n -= stapgen_printed.outside[field];
    stapgen_printed.outside[field] += n;
    for (word = 0; word < (int)BITS_TO_LONGS(STAPGEN_BINS); word++) {
        unsigned long used = 0;
        for (stripe = 0; stripe < STAPGEN_STRIPES; stripe++)
            used |= READ_ONCE(stapgen_stripes[stripe].is_used[field][word]);
        while (used) {
            int bin = word * BITS_PER_LONG + __ffs(used);
            u32 count = 0, fresh;
            used &= used - 1;
            for (stripe = 0; stripe < STAPGEN_STRIPES; stripe++)
                count += READ_ONCE(stapgen_stripes[stripe].of.bin[field][bin]);
            fresh = count - stapgen_printed.bin[field][bin];
            if (!fresh) continue;
            stapgen_printed.bin[field][bin] = count;
            n += fresh;
            if (lowest < 0) lowest = bin;
            highest = bin;
            if (!pairs) stapgen_begin_aggregated(line, "bin\t", tag, name);
            stapgen_put_number(line, bin);
            stapgen_put_byte(line, ':');
            stapgen_put_digits(line, fresh);
            if (++pairs == PAIRS_A_LINE) {
                stapgen_print_line_of_many(line);
                pairs = 0;
            }
        }
    }
    if (pairs) stapgen_print_line_of_many(line);
    if (!n) return;
    if (lowest >= 0 && stapgen_lowest_of(lowest) > min) min = stapgen_lowest_of(lowest);
    if (highest >= 0 && max <= STAPGEN_LARGEST && stapgen_lowest_of(highest + 1) - 1 < max)
        max = stapgen_lowest_of(highest + 1) - 1;
    stapgen_begin_aggregated(line, "sum\t", tag, name);
    stapgen_put_number(line, n);
    stapgen_put_number(line, sum - stapgen_printed.sum[field]);
    stapgen_put_number(line, min);
    stapgen_put_number(line, max);
    stapgen_print_line_of_many(line);
    stapgen_printed.sum[field] = sum;
}
/* Likewise the split line of a bin of totals. */
static inline void stapgen_print_split_of(const char* tag, const char* name, int direction, int bin) {
    struct stapgen_line* line = &stapgen_printing;
    u64 now[STAPGEN_PARTS + 1] = {0}, *printed = stapgen_printed.split[direction][bin];
    int stripe, part;
    for (stripe = 0; stripe < STAPGEN_STRIPES; stripe++) {
        struct stapgen_stripe* from = &stapgen_stripes[stripe];
        stapgen_lock(&from->lock);
        for (part = 0; part <= STAPGEN_PARTS; part++)
            now[part] += from->of.split[direction][bin][part];
        stapgen_unlock(&from->lock);
    }
    if (now[0] == printed[0]) return;
    stapgen_begin_aggregated(line, "split\t", tag, name);
    stapgen_put_number(line, bin);
    for (part = 0; part <= STAPGEN_PARTS; part++) {
        stapgen_put_number(line, now[part] - printed[part]);
        printed[part] = now[part];
    }
    stapgen_print_line_of_many(line);
}
/* All of a direction: its number, and what it is called. */
static inline void stapgen_print_splits(const char* tag, const char* name, int direction) {
    int word, stripe;
    if (direction < 0 || direction >= STAPGEN_DIRECTIONS) direction = 0;
    for (word = 0; word < (int)BITS_TO_LONGS(STAPGEN_TOTALS); word++) {
        unsigned long used = 0;
        for (stripe = 0; stripe < STAPGEN_STRIPES; stripe++)
            used |= READ_ONCE(stapgen_stripes[stripe].is_split[direction][word]);
        for (; used; used &= used - 1)
            stapgen_print_split_of(tag, name, direction, word * BITS_PER_LONG + __ffs(used));
    }
}
/* The records of a direction that are in split lines. */
static inline long stapgen_printed_records(int direction) {
    long records = 0;
    int bin;
    if (direction < 0 || direction >= STAPGEN_DIRECTIONS) direction = 0;
    for (bin = 0; bin < STAPGEN_TOTALS; bin++)
        records += stapgen_printed.split[direction][bin][0];
    return records;
}

#endif
