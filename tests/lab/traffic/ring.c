// SPDX-License-Identifier: GPL-2.0-or-later
#include "ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "traffic.h"

enum { ENTRIES = 64 };

static _Atomic unsigned* word(void* ring, unsigned offset) {
    return (_Atomic unsigned*)((char*)ring + offset);
}

static void* map(const struct ring* ring, size_t size, off_t what) {
    void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, what);
    if (memory == MAP_FAILED) die("mmap of io_uring: %m");
    return memory;
}

void ring_open(struct ring* ring) {
    memset(ring, 0, sizeof *ring);
    ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &ring->layout);
    if (ring->fd < 0 && (errno == ENOSYS || errno == EPERM)) skip("skipped: this kernel does not permit io_uring: %m");
    if (ring->fd < 0) die("io_uring_setup: %m");
    const struct io_uring_params* layout = &ring->layout;
    ring->sq_size = layout->sq_off.array + layout->sq_entries * (unsigned)sizeof(unsigned);
    ring->cq_size = layout->cq_off.cqes + layout->cq_entries * (unsigned)sizeof(struct io_uring_cqe);
    ring->sq = map(ring, ring->sq_size, IORING_OFF_SQ_RING);
    ring->cq = map(ring, ring->cq_size, IORING_OFF_CQ_RING);
    ring->entries = map(ring, layout->sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
}

void ring_close(struct ring* ring) {
    munmap(ring->sq, ring->sq_size);
    munmap(ring->cq, ring->cq_size);
    munmap(ring->entries, ring->layout.sq_entries * sizeof(struct io_uring_sqe));
    close(ring->fd);
}

static void enter(struct ring* ring, unsigned wait_for) {
    int submitted;
    RETRY(submitted, (int)syscall(SYS_io_uring_enter, ring->fd, ring->queued, wait_for,
                                  wait_for ? IORING_ENTER_GETEVENTS : 0, NULL, 0));
    if (submitted < 0) die("io_uring_enter: %m");
    if ((unsigned)submitted != ring->queued) die("io_uring_enter took %d of %u entries", submitted, ring->queued);
    ring->queued = 0;
}

void ring_queue(struct ring* ring, const struct io_uring_sqe* entry) {
    if (ring->queued == ring->layout.sq_entries) enter(ring, 0);
    _Atomic unsigned* tail = word(ring->sq, ring->layout.sq_off.tail);
    unsigned at = atomic_load(tail), slot = at & (ring->layout.sq_entries - 1);
    ring->entries[slot] = *entry;
    atomic_store(word(ring->sq, ring->layout.sq_off.array + slot * (unsigned)sizeof(unsigned)), slot);
    atomic_store(tail, at + 1);
    ring->queued++;
}

int ring_wait(struct ring* ring, uint64_t* user_data) {
    _Atomic unsigned* head = word(ring->cq, ring->layout.cq_off.head);
    unsigned at = atomic_load(head);
    while (ring->queued || at == atomic_load(word(ring->cq, ring->layout.cq_off.tail)))
        enter(ring, 1);
    const struct io_uring_cqe* done =
        (const struct io_uring_cqe*)((char*)ring->cq + ring->layout.cq_off.cqes) + (at & (ring->layout.cq_entries - 1));
    int result = done->res;
    *user_data = done->user_data;
    atomic_store(head, at + 1);
    return result;
}
