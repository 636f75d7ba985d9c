// SPDX-License-Identifier: GPL-2.0-or-later
// What the traffic programs share. Every unexpected result ends a program: exit code 1 and a message.
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { SKIPPED = 77 };

_Noreturn void die(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void skip(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Repeats a call that a signal interrupted: tracers wake the threads that they attach to.
#define RETRY(result, call) \
    do {                    \
        (result) = (call);  \
    } while ((result) < 0 && errno == EINTR)

long long number(const char* option, const char* text, long long least, long long most);
// The index of text in names, which ends with NULL.
int choose(const char* option, const char* text, const char* const* names);

uint64_t now_ns(void);
uint64_t now_us(void);
void sleep_us(uint64_t us);
// Sorts the times, of which there is one at least.
uint64_t median(uint64_t* times, size_t count);

enum family { FAMILY_4, FAMILY_6, FAMILY_MAPPED };
extern const char* const families[];

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

// Numeric addresses only; with mapped, an IPv4 address becomes ::ffff:a.b.c.d.
union address to_address(const char* text, unsigned port, bool mapped);
socklen_t address_length(const union address* address);
union address local_address(int fd);
unsigned port_of(const union address* address);
const char* loopback(enum family family);

// A socket bound to every local address; type SOCK_STREAM listens. Port 0 takes a free one.
int open_bound(enum family family, int type, unsigned port);
int open_connected(const char* address, unsigned port, int type);
int accept_one(int listener);
void no_delay(int fd);
// Ends a receiving call on fd that waits longer than any test's traffic does.
void limit_wait(int fd);
// Prints "ready PID PORT".
void say_ready(int fd);

// A record starts with "SEQ DELAY_US ADDRESS PORT", where an answer is to be sent, and is padded with blanks.
enum { RECORD = 64, MAX_MESSAGE = 65000 };

struct header {
    unsigned long long seq;
    uint64_t delay_us;
    union address from;
};

// Whether a whole one comes; else the connection has ended.
bool read_record(int fd, char record[RECORD]);
void write_record(char record[RECORD], unsigned long long seq, uint64_t delay_us, const union address* from);
struct header parse_record(const char record[RECORD], bool mapped);
// A message of any size repeats its record.
void fill_message(char* message, size_t size, const char record[RECORD]);
void check_message(const char* message, size_t size, const char record[RECORD]);
