// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that read requests, what they sleep for, and who wakes them: tapsets/c/app_waits.h.
#pragma once

#define STAPGEN_WAITS 1
#define STAPGEN_CLOCK_BITS 1
#define STAPGEN_ASKING_BITS 1
#define STAPGEN_NAME_ADDRESS(name, address, is_ip4, port) \
    std::snprintf((name), sizeof(name), "%s:%u", (is_ip4) ? "ip4" : "ip6", (port))
#include "world.h"

// world.h is first: it has what the C is made of.
#include <array>
#include <deque>
#include <map>
#include <random>
#include <sstream>

#include "c/app_waits.h"
#include "c/request.h"
#include "call_path.h"
#include "model.h"

namespace {

enum { asleep = 1 };
constexpr int other = 7;  // a task of another process, which has a CPU when no other one has it

void sleep_in(const std::vector<std::string>& path) {
    kernel_stack.clear();
    for (const auto& name : path)
        kernel_stack.push_back(in(name));
}

struct World {
    struct super_block device {
        (8U << 20) + 3
    };
    struct dentry wal {
        {
            reinterpret_cast<const unsigned char*>("0001")
        }
    };
    struct file regular {
    }, pipe{}, unix_file{}, net_file{};
    struct inode regular_inode {
        S_IFREG, &device
    }, pipe_inode{S_IFIFO, &device}, socket_inode{S_IFSOCK, &device};
    std::array<struct file*, 4> all{&regular, &pipe, &unix_file, &net_file};
    struct fdtable table {
        4, all.data()
    };
    struct files_struct files {
        &table
    };
    struct sock unix_sock {
    }, net_sock{}, database{}, cache{};
    struct socket unix_socket {
    }, net_socket{};
    s64 now = 1'000'000;

    World() {
        clear(stapgen_clocks);
        clear(stapgen_threads);
        clear(stapgen_askings);
        clear(stapgen_mixing);
        std::memset(stapgen_who_sets, 0, sizeof(stapgen_who_sets));
        std::memset(&stapgen_woken_by, 0, sizeof(stapgen_woken_by));
        for (int i = 0; i < 8; ++i) {
            shim_tasks[i] = {101 + i, 100, "worker"};
            shim_tasks[i].files = &files;
        }
        shim_tasks[other] = {999, 999, "other"};
        shim_task = 0;
        shim_hardirq = shim_serving_softirq = 0;
        shim_printed.clear();
        sleep_in({"schedule"});
        regular.f_inode = &regular_inode;
        regular.f_path.dentry = &wal;
        pipe.f_inode = &pipe_inode;
        unix_file.f_inode = net_file.f_inode = &socket_inode;
        unix_sock.__sk_common.skc_family = AF_UNIX;
        for (auto* sock : {&net_sock, &database, &cache})
            sock->__sk_common.skc_family = AF_INET;
        database.__sk_common.skc_dport = htons(5432);
        cache.__sk_common.skc_dport = htons(6379);
        unix_socket.sk = &unix_sock;
        net_socket.sk = &net_sock;
        unix_file.private_data = &unix_socket;
        net_file.private_data = &net_socket;
    }
    struct task_struct& self() {
        return shim_tasks[shim_task];
    }
    void at(s64 ns) {
        now += ns;
        shim_time = now - 1;  // as it is read next
    }
    /// This thread goes to sleep in a call; nobody has the CPU.
    void goes_to_sleep(long call, std::array<unsigned long, 6> argument = {}, unsigned state = asleep) {
        self().regs.call = call;
        std::copy(argument.begin(), argument.end(), self().regs.argument);
        self().__state = state;
        at(0);
        stapgen_clock_switches(&self(), &shim_tasks[other], 0);
    }
    /// The CPU turns to a thread that was woken.
    void runs(int task) {
        shim_tasks[task].__state = 0;
        at(0);
        stapgen_clock_switches(&shim_tasks[other], &shim_tasks[task], 0);
        shim_task = task;
    }
    /// In a call it goes to sleep for so long, and is woken; then it waits for its CPU.
    void sleeps(long call, std::array<unsigned long, 6> argument, s64 slept, s64 queued, auto wake) {
        const int task = shim_task;
        goes_to_sleep(call, argument);
        at(slept);
        wake();
        at(queued);
        runs(task);
    }
    void sleeps(long call, std::array<unsigned long, 6> argument, s64 slept, s64 queued) {
        const int task = shim_task;
        sleeps(call, argument, slept, queued, [&] {
            shim_task = other;
            stapgen_clock_wakes(&shim_tasks[task]);
            shim_task = task;
        });
    }
    /// By a packet for this socket.
    void wakes_by(const struct sock& sock, int task) {
        shim_serving_softirq = 1;
        stapgen_clock_sees_readable(of(sock));
        at(0);
        stapgen_clock_wakes(&shim_tasks[task]);
        shim_serving_softirq = 0;
    }
    static unsigned long of(const struct sock& sock) { return reinterpret_cast<unsigned long>(&sock); }
    void asks(const struct sock& sock) {
        const void* fault = nullptr;
        at(0);
        stapgen_clock_asks(of(sock), 1, &fault);
    }
    void reads_from(const struct sock& sock) {
        at(0);
        stapgen_clock_reads_from(of(sock));
    }
};

struct App : stapgen_app {
    s64 read = 0;
    [[nodiscard]] s64 of(int cause) const { return own.waits.said >> cause & 1 ? own.waits.ns[cause] : 0; }
    [[nodiscard]] s64 sum() const {
        s64 all = 0;
        for (int cause = 0; cause < STAPGEN_APP_CAUSES; ++cause)
            all += of(cause);
        return all;
    }
};

/// This thread reads a request from that socket.
void read(World& world, App& app, unsigned long socket = 4711) {
    world.at(0);
    stapgen_clock_reads_from(socket);
    world.at(0);
    app.read = world.now;
    stapgen_note_app(&app, stapgen_clock_reads(app.read), socket, 1, app.read);
}
/// This thread replies, to its own request or to another's.
void reply(World& world, App& app, bool is_own = true) {
    world.at(0);
    stapgen_divide_app(&app, stapgen_clock_replies(), is_own, world.now - app.read, world.now, world.now);
    stapgen_count_app(&app);
}
/// What a request waited for while its thread did `work`.
App app_of(World& world, auto work) {
    // In a kernel these are rows of a table, which stay.
    static std::deque<App> apps;
    App& app = apps.emplace_back();
    world.at(17);
    read(world, app);
    work();
    reply(world, app);
    return app;
}
/// The rows of what threads slept for: "lock 0x.. holder[102] holder[102] timer" -> n, ns.
std::map<std::string, std::pair<s64, s64>> rows() {
    shim_printed.clear();
    stapgen_print_who(stapgen_print_thing_row);
    std::map<std::string, std::pair<s64, s64>> rows;
    std::istringstream lines(shim_printed);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::vector<std::string> fields;
        for (std::string field; std::getline(words, field, '\t');)
            fields.push_back(field);
        REQUIRE(fields.size() == 12);
        std::string key;
        for (std::size_t i = 3; i < 8; ++i)
            key += (i == 3 ? "" : " ") + fields[i];
        rows[key] = {std::stoll(fields[8]), std::stoll(fields[9])};
        CHECK(fields[9] == fields[10]);
    }
    return rows;
}
using Row = std::pair<s64, s64>;

}  // namespace

struct pid* find_vpid(int tid) {
    for (auto& task : shim_tasks)
        if (task.pid == tid) return reinterpret_cast<struct pid*>(&task);
    return nullptr;
}
/// As lockdep asks for it.
bool shim_is_rcu_reader = false;
void rcu_read_lock(void) {
    shim_is_rcu_reader = true;
}
void rcu_read_unlock(void) {
    shim_is_rcu_reader = false;
}
struct task_struct* pid_task(struct pid* pid, int /*type*/) {
    CHECK(shim_is_rcu_reader);
    return reinterpret_cast<struct task_struct*>(pid);
}
