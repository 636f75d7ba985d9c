// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a known number of pages: a mapping of its own, of which each page is written to once.
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "traffic.h"

static const char usage[] =
    "usage: pages --count N\n"
    "  --count N   pages to take; 0: none, for what the program itself needs\n";

// Where huge pages begin; so many bytes have one page of page tables.
enum { TABLE = 2 << 20 };

int main(int argc, char** argv) {
    static const struct option longs[] = {{"count", 1, NULL, 'c'}, {NULL, 0, NULL, 0}};
    long long count = -1;
    for (int option; (option = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (option != 'c') die("%s", usage);
        count = number("count", optarg, 0, 1 << 24);
    }
    if (optind != argc || count < 0) die("%s", usage);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)count * page, tables = 0;
    if (size) {
        char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) die("mmap: %m");
        // EINVAL: a kernel without huge pages, as those with PREEMPT_RT.
        if (madvise(memory, size, MADV_NOHUGEPAGE) && errno != EINVAL) die("madvise: %m");
        for (size_t at = 0; at < size; at += page)
            *(volatile char*)(memory + at) = 1;
        tables = ((uintptr_t)memory + size - 1) / TABLE - (uintptr_t)memory / TABLE + 1;
    }
    printf("pages %d %lld tables %zu\n", getpid(), count, tables);
}
