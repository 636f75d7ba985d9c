// SPDX-License-Identifier: GPL-2.0-or-later
// Call paths of drops: where they begin and end, and what becomes of those that a full table has no room for.
#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <vector>

#define STAPGEN_STACK_BITS 1
#include "world.h"

// world.h is first: it has what the C is made of.
#include "c/listen.h"
#include "c/resets.h"
#include "c/stacks.h"
#include "call_path.h"

namespace {

struct Printed {
    std::string reason;
    Frames frames;
    int count = 0;
};

std::vector<Printed> print() {
    shim_printed.clear();
    stapgen_print_stacks();
    std::vector<Printed> all;
    std::istringstream lines(shim_printed);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string tag, frames, frame;
        Printed& printed = all.emplace_back();
        words >> tag >> printed.reason >> frames >> printed.count;
        CHECK(tag == "stack");
        std::istringstream each(frames);
        while (std::getline(each, frame, ','))
            printed.frames.push_back(std::stoul(frame, nullptr, 16));
    }
    return all;
}

void drop(const Frames& stack, unsigned long location, s64 reason = 2) {
    kernel_stack = stack;
    stapgen_add_stack(location, reason);
}

void clear() {
    std::memset(&stapgen_stack_sets, 0, sizeof(stapgen_stack_sets));
}

Frames joined(std::initializer_list<Frames> parts) {
    Frames all;
    for (const auto& part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

/// What is in front of each path: the kernel's own, and a module of SystemTap.
Frames tracing() {
    return {in("stack_trace_save"), in("probe_1 [stap_0123456789]"), in("__traceiter_kfree_skb"),
            in("kfree_skb_reason")};
}
Frames softirq() {
    return {in("ip_rcv"), in("net_rx_action"), in("handle_softirqs")};
}

}  // namespace

TEST_CASE("a path begins where the packet was dropped") {
    clear();
    const Frames path{in("nf_hook_slow"), in("ip_forward"), in("ip_rcv")};
    drop(joined({tracing(), path}), path[0]);
    drop(joined({tracing(), path}), path[0]);
    drop(joined({tracing(), path}), path[0], 3);
    const auto printed = print();
    REQUIRE(printed.size() == 2);
    for (const auto& one : printed) {
        CHECK(one.frames == path);
        CHECK(one.count == (one.reason == "2" ? 2 : 1));
    }
    CHECK(print().empty());  // since the last time
    drop(joined({tracing(), path}), path[0]);
    CHECK(print()[0].count == 1);
}

TEST_CASE("a reset's path stands apart from a drop's with the same number") {
    clear();
    const Frames path{in("tcp_v4_rcv"), in("ip_rcv")};
    drop(joined({tracing(), path}), path[0], 3);
    auto* stack = STAPGEN_THIS_CPU(stapgen_this_stack);
    stack->reset = "NO_SOCKET";
    stapgen_count_stack(stack);
    stapgen_count_stack(stack);
    shim_printed.clear();
    stapgen_print_stacks();
    std::ostringstream frames;
    frames << std::hex << path[0] << ',' << path[1];
    CHECK(shim_printed.find("stack\t3\t" + frames.str() + "\t1\n") != std::string::npos);
    CHECK(shim_printed.find("reset-stack\treset NO_SOCKET\t" + frames.str() + "\t2\n") != std::string::npos);
}

TEST_CASE("a place that is its own function is found by the name, another one behind what traces") {
    clear();
    const Frames path{in("net_tx_action", 0x42), in("handle_softirqs"), in("run_ksoftirqd")};
    drop(joined({tracing(), path}), in("net_tx_action", 0));
    CHECK(print()[0].frames == path);
    drop(joined({tracing(), path}), in("udp_recvmsg", 0));
    CHECK(print()[0].frames == path);
    drop(tracing(), in("udp_recvmsg", 0x7));
    CHECK(print()[0].frames == Frames{in("udp_recvmsg", 0x7)});
    drop({}, in("udp_recvmsg", 0x7));
    CHECK(print()[0].frames == Frames{in("udp_recvmsg", 0x7)});
}

TEST_CASE("what an interrupt has interrupted is not in a path, and who sends in softirq is") {
    clear();
    const Frames interrupted{in("__irq_exit_rcu"), in("sysvec_apic_timer_interrupt"),
                             in("asm_sysvec_apic_timer_interrupt")};
    for (unsigned long i = 0; i < 5; ++i)
        drop(joined({tracing(), softirq(), interrupted, {in("anything", 8 * i)}}), softirq()[0]);
    auto printed = print();
    REQUIRE(printed.size() == 1);
    CHECK(printed[0].frames == softirq());
    CHECK(printed[0].count == 5);
    const Frames sender{in("do_softirq"), in("__local_bh_enable_ip"), in("udp_sendmsg"),
                        in("entry_SYSCALL_64_after_hwframe")};
    drop(joined({tracing(), softirq(), sender}), softirq()[0]);
    CHECK(print()[0].frames == joined({softirq(), sender}));
    // In the interrupt itself: x86-64, arm64 in the kernel and in a program.
    for (const auto* entry : {"asm_common_interrupt", "el1_interrupt", "el0_interrupt"}) {
        CAPTURE(entry);
        drop(joined({tracing(), {in("driver_isr"), in(entry), in("anything")}}), in("driver_isr"));
        CHECK(print()[0].frames == Frames{in("driver_isr")});
    }
}

TEST_CASE("a path that is too deep keeps its innermost frames, and a line has them all") {
    clear();
    Frames path;
    for (int i = 0; i < 60; ++i)
        path.push_back(in("f" + std::to_string(i)));
    drop(joined({tracing(), path}), path[0], -1);
    const auto printed = print();
    REQUIRE(printed.size() == 1);
    CHECK(printed[0].reason == "-1");
    CHECK(printed[0].frames == Frames(path.begin(), path.begin() + STAPGEN_FRAMES));
}

TEST_CASE("each function's name is looked up once") {
    clear();
    std::memset(&stapgen_frame_kinds, 0, sizeof(stapgen_frame_kinds));
    const auto path = joined({tracing(), softirq()});
    drop(path, softirq()[0]);
    names_looked_up = 0;
    for (int i = 0; i < 100; ++i)
        drop(path, softirq()[0]);
    CHECK(names_looked_up == 0);
}

TEST_CASE("each packet is in a path or counted as evicted, and those that come often stay") {
    clear();
    const auto often = in("often"), other = in("other");
    for (int i = 0; i < 100; ++i) {
        for (int n = 0; n < 10; ++n)
            drop({often}, often);
        drop({other, static_cast<unsigned long>(i) << 8 | text}, other);
    }
    int sum = 0, most = 0;
    for (const auto& printed : print()) {
        sum += printed.count;
        if (printed.frames[0] == often) most += printed.count;
    }
    CHECK(most == 1000);
    CHECK(sum + static_cast<int>(stapgen_evicted_by_stacks()) == 1100);
    CHECK(stapgen_evicted_by_stacks() > 80);
}

TEST_CASE("a socket's own reset is told by who asked for it") {
    const auto class_of = [](std::initializer_list<const char*> callers, s64 gfp = 0) {
        kernel_stack = {in("stack_trace_save"), in("kprobe_ftrace_handler"), in("tcp_send_active_reset", 1)};
        for (const auto* caller : callers)
            kernel_stack.push_back(in(caller));
        kernel_stack.push_back(in("do_syscall_64"));
        return stapgen_class_own(gfp);
    };
    CHECK(class_of({"__tcp_close", "tcp_close"}) == STAPGEN_RESET_CLOSED_UNREAD);
    CHECK(class_of({"__tcp_close", "tcp_close"}, GFP_ATOMIC) == STAPGEN_RESET_OTHER);
    CHECK(class_of({"tcp_disconnect", "__tcp_close"}) == STAPGEN_RESET_LINGER);
    CHECK(class_of({"tcp_disconnect", "inet_child_forget"}) == STAPGEN_RESET_OTHER);
    CHECK(class_of({"tcp_keepalive_timer", "call_timer_fn"}) == STAPGEN_RESET_OTHER);
    kernel_stack = {in("stack_trace_save")};
    CHECK(stapgen_class_own(0) == STAPGEN_RESET_OTHER);
}

TEST_CASE("an answer is told by its socket, and there is none to a reset or without a local route") {
    const void* fault = nullptr;
    struct sock sk {};
    CHECK(stapgen_class_answer(nullptr, &fault) == STAPGEN_RESET_NO_SOCKET);
    sk.sk_state = TCP_TIME_WAIT;
    CHECK(stapgen_class_answer(&sk, &fault) == STAPGEN_RESET_TIME_WAIT);
    sk.sk_state = TCP_CLOSE;
    CHECK(stapgen_class_answer(&sk, &fault) == STAPGEN_RESET_AFTER_CLOSE);
    sk.sk_state = TCP_SYN_SENT;
    CHECK(stapgen_class_answer(&sk, &fault) == STAPGEN_RESET_OTHER);

    unsigned char packet[40] = {0x45};
    struct rtable route {
        RTN_LOCAL
    };
    struct sk_buff skb {};
    skb.head = packet;
    skb.transport_header = 20;
    CHECK(!stapgen_is_answered_by_reset(nullptr, &skb, &fault));
    skb._skb_refdst = reinterpret_cast<unsigned long>(&route) | 1;
    CHECK(stapgen_is_answered_by_reset(nullptr, &skb, &fault));
    route.rt_type = 3;
    CHECK(!stapgen_is_answered_by_reset(nullptr, &skb, &fault));
    CHECK(stapgen_is_answered_by_reset(&sk, &skb, &fault));
    packet[33] = 4;
    CHECK(!stapgen_is_answered_by_reset(&sk, &skb, &fault));
    CHECK(fault == nullptr);
}

TEST_CASE("a queue is full with one more than its limit") {
    const void* fault = nullptr;
    struct tcp_sock tcp {};
    auto& sk = tcp.inet.sk;
    sk.sk_max_ack_backlog = sk.sk_ack_backlog = tcp.qlen = 3;
    CHECK(!stapgen_drops_syn_for_accept_queue(&sk, &fault));
    CHECK(!stapgen_is_syn_queue_full(&sk, &fault));
    sk.sk_ack_backlog = tcp.qlen = 4;
    CHECK(stapgen_drops_syn_for_accept_queue(&sk, &fault));
    CHECK(stapgen_is_syn_queue_full(&sk, &fault));
    CHECK(stapgen_accept_queue_length(&sk, &fault) == 4);
    CHECK(stapgen_syn_queue_length(&sk, &fault) == 4);
    CHECK(stapgen_queue_limit(&sk, &fault) == 3);
    CHECK(fault == nullptr);
}
