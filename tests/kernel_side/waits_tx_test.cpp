// SPDX-License-Identifier: GPL-2.0-or-later
// What segments wait for within app-tcp: tapsets/c/tx_clock.h, tx_wait.h.
#define STAPGEN_WAITS 1
#define STAPGEN_FIELDS 27

#include "sender_world.h"

TEST_CASE("what is sent at once waits for its call only") {
    Sender sender;
    sender.call(101);
    sender.attempt();
    const Parts parts = sender.send();
    check_cause(parts, "send-call", 1100);
    CHECK(parts.size() == 2);
    check_cause(parts, "sending", 0);
}

TEST_CASE("what an attempt to send leaves waits for the test of TCP's that stopped it") {
    Sender sender;
    auto& tcp = sender.tcp();
    SUBCASE("a small segment behind another one") {
        tcp.packets_out = 1;
        tcp.snd_una = tcp.snd_up = u32(-3);
        check_cause(sender.blocked(), "nagle", 5000);
    }
    SUBCASE("TCP_CORK") {
        tcp.nonagle = TCP_NAGLE_CORK;
        check_cause(sender.blocked(TCP_NAGLE_CORK), "cork", 5000);
    }
    SUBCASE("MSG_MORE") {
        check_cause(sender.blocked(TCP_NAGLE_CORK), "msg-more", 5000);
    }
    SUBCASE("the congestion window") {
        tcp.packets_out = 12, tcp.sacked_out = 2;
        check_cause(sender.blocked(), "cwnd", 5000);
    }
    SUBCASE("the same after a loss") {
        tcp.packets_out = 10, tcp.icsk_ca_state = TCP_CA_Recovery;
        check_cause(sender.blocked(), "loss-recovery", 5000);
    }
    SUBCASE("pacing") {
        sender.sk()->sk_pacing_status = SK_PACING_NEEDED;
        tcp.tcp_wstamp_ns = 2, tcp.tcp_clock_cache = 1;
        check_cause(sender.blocked(), "pacing", 5000);
    }
    SUBCASE("fq does the pacing") {
        sender.sk()->sk_pacing_status = SK_PACING_FQ;
        tcp.tcp_wstamp_ns = 2, tcp.tcp_clock_cache = 1;
        check_cause(sender.blocked(), "other", 5000);
    }
    SUBCASE("enough in the device's queues") {
        sender.sk()->sk_tsq_flags = 1 << TSQ_THROTTLED;
        sender.sk()->sk_wmem_alloc.refs.counter = 5000;
        check_cause(sender.blocked(), "tsq", 5000);
    }
    SUBCASE("TSO deferral") {
        sender.call(3000);
        sender.attempt();
        sender.ends();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "tso-defer", 5000);
    }
    SUBCASE("but what is small may go where Nagle's test lets it") {
        tcp.packets_out = 1;
        tcp.snd_una = tcp.snd_up = u32(-3);
        SUBCASE("urgent data") {
            tcp.snd_up = u32(-2);
        }
        SUBCASE("all small ones were acknowledged") {
            tcp.snd_sml = tcp.snd_una;
        }
        SUBCASE("the small one was of a time long ago") {
            tcp.snd_sml = 70000;
        }
        const Parts parts = sender.blocked();
        CHECK(parts.count("nagle") == 0);
        check_cause(parts, "other", 5000);
    }
    SUBCASE("or ends the connection") {
        tcp.packets_out = 1;
        tcp.snd_una = tcp.snd_up = u32(-3);
        sender.call(101);
        reinterpret_cast<tcp_skb_cb*>(sender.head->skb.cb)->tcp_flags = TCPHDR_FIN;
        sender.attempt();
        sender.ends();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "other", 5000);
    }
    SUBCASE("or has another one behind it") {
        tcp.nonagle = TCP_NAGLE_CORK;
        sender.call(101);
        Packet behind(true, 103, tcp.write_seq);
        sender.sk()->sk_write_queue.prev = &behind.skb;
        sender.attempt(TCP_NAGLE_CORK);
        sender.ends();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "other", 5000);
    }
    SUBCASE("a probe of a lost tail may go over the congestion window") {
        tcp.packets_out = 12, tcp.sacked_out = 2;
        sender.call(101);
        sender.attempt(0, 2);
        sender.ends();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "other", 5000);
    }
    SUBCASE("an attempt to send one only leaves the rest with what it waited for") {
        tcp.packets_out = 10;
        sender.call(101);
        sender.attempt();
        sender.ends();
        shim_time += 4000;
        tcp.packets_out = 0;
        sender.attempt(0, 1);
        const Parts first = sender.send();
        check_cause(first, "cwnd", 4000);
        sender.new_head(103, tcp.write_seq);
        tcp.write_seq += 103;
        sender.queue(&sender.head->skb);
        sender.ends();
        shim_time += 3000;
        sender.attempt();
        check_cause(sender.send(), "cwnd", 7000);
    }
    SUBCASE("little in the device's queues does not stop what may be cut") {
        sender.sk()->sk_tsq_flags = 1 << TSQ_THROTTLED;
        sender.sk()->sk_wmem_alloc.refs.counter = 500;
        sender.call(3000);
        sender.attempt();
        sender.ends();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "tso-defer", 5000);
    }
    SUBCASE("nor does much in them that TCP was not stopped by") {
        sender.sk()->sk_wmem_alloc.refs.counter = 5000;
        check_cause(sender.blocked(), "other", 5000);
    }
    SUBCASE("this host refuses it") {
        sender.call(101);
        sender.attempt();
        stapgen_tx_at_tcp(sender.sk(), &sender.head->skb, 1, 0, &sender.fault);
        sender.ends();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "local-drop", 5000);
    }
    SUBCASE("but not one behind that") {
        sender.call(101);
        sender.attempt();
        sender.send();
        sender.new_head(103, tcp.write_seq);
        tcp.write_seq += 103;
        sender.queue(&sender.head->skb);
        sender.ends();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "other", 5000);
    }
}

TEST_CASE("an attempt without an end was stopped by the receiver's window") {
    Sender sender;
    sender.call(101);
    sender.tcp().chrono_type = TCP_CHRONO_RWND_LIMITED;
    SUBCASE("with something on its way") {
        sender.tcp().packets_out = 1;
        sender.attempt();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "rwnd", 5000);
    }
    SUBCASE("with nothing on its way it is the receiver who has to read") {
        sender.attempt();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "zero-window", 5000);
    }
    SUBCASE("unless the attempt sent something itself") {
        sender.attempt();
        sender.send();
        sender.new_head(103, sender.tcp().write_seq);
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "rwnd", 5000);
    }
    SUBCASE("but not where TCP does not say so") {
        sender.tcp().chrono_type = TCP_CHRONO_BUSY;
        sender.attempt();
        shim_time += 5000;
        sender.attempt();
        check_cause(sender.send(), "other", 5000);
    }
}

TEST_CASE("a full send buffer is what keeps the next bytes back where all others are sent") {
    Sender sender;
    sender.call(101);
    sender.attempt();
    sender.send();
    sender.ends();
    sender.sk()->sk_wmem_queued = sender.sk()->sk_sndbuf = 4608;
    SUBCASE("and the congestion window is not full") {
        stapgen_tx_waits_for_room(sender.sk(), &sender.fault);
        shim_time += 7000;
        sender.new_head(103, sender.tcp().write_seq);
        sender.attempt();
        check_cause(sender.send(), "sndbuf", 7000);
    }
    SUBCASE("who found no room waits for it, who looks for none is at work") {
        SUBCASE("none") {
            sender.file.flags = 1 << SOCK_NOSPACE;
        }
        SUBCASE("no look") {}
        sender.attempt();
        sender.ends();
        shim_time += 7000;
        sender.new_head(103, sender.tcp().write_seq);
        sender.attempt();
        const Parts parts = sender.send();
        if (sender.file.flags) check_cause(parts, "sndbuf", 7000);
        // With the call of the first one.
        check_cause(parts, "send-call", sender.file.flags ? 1100 : 8100);
    }
    SUBCASE("there is room, and TCP has no memory") {
        sender.sk()->sk_wmem_queued = 4607;
        sender.network.ipv4.sysctl_tcp_notsent_lowat = ~0U;
        stapgen_tx_waits_for_room(sender.sk(), &sender.fault);
        shim_time += 7000;
        sender.new_head(103, sender.tcp().write_seq);
        sender.attempt();
        check_cause(sender.send(), "tcp-memory", 7000);
    }
    SUBCASE("there is room, and as much unsent as TCP_NOTSENT_LOWAT allows, until all is sent") {
        sender.sk()->sk_wmem_queued = 4607;
        sender.network.ipv4.sysctl_tcp_notsent_lowat = ~0U;
        sender.tcp().notsent_lowat = 101;
        SUBCASE("by the host's setting") {
            sender.network.ipv4.sysctl_tcp_notsent_lowat = 101;
            sender.tcp().notsent_lowat = 0;
        }
        SUBCASE("by the program's") {}
        sender.sk()->sk_pacing_status = SK_PACING_NEEDED;
        sender.tcp().tcp_wstamp_ns = 1;
        sender.call(101);
        sender.attempt();
        sender.ends();
        shim_time += 3000;
        sender.file.flags = 1 << SOCK_NOSPACE;
        stapgen_tx_waits_for_room(sender.sk(), &sender.fault);
        shim_time += 2000;
        sender.attempt();
        check_cause(sender.send(), "pacing", 5000);
        sender.ends();
        shim_time += 7000;
        sender.new_head(103, sender.tcp().write_seq);
        sender.attempt();
        check_cause(sender.send(), "notsent-lowat", 7000);
    }
    SUBCASE("else that does") {
        sender.tcp().packets_out = 10;
        stapgen_tx_waits_for_room(sender.sk(), &sender.fault);
        shim_time += 7000;
        sender.new_head(103, sender.tcp().write_seq);
        sender.attempt();
        check_cause(sender.send(), "cwnd", 7000);
    }
}

TEST_CASE("what a socket waited for while it had nothing to send its next bytes did not wait for") {
    Sender sender;
    sender.call(101);
    sender.attempt();
    sender.send();
    sender.file.flags = 1 << SOCK_NOSPACE;
    // The queue may keep an empty one.
    Packet empty(true, 0, sender.tcp().write_seq);
    sender.queue(&empty.skb);
    sender.ends();
    CHECK(stapgen_find_tx_clock(sender.socket.key())->state == STAPGEN_TX_WAIT_sndbuf);
    shim_time += 9000;
    sender.call(103);
    sender.attempt();
    const Parts parts = sender.send();
    check_cause(parts, "send-call", 1100);
    CHECK(parts.count("sndbuf") == 0);
}

TEST_CASE("a call that ends without an attempt was autocorked") {
    Sender sender;
    sender.call(101);
    shim_time += 9000;
    SUBCASE("until softirq makes one") {
        shim_serving_softirq = 1;
        sender.attempt();
        shim_serving_softirq = 0;
        check_cause(sender.send(), "autocork", 10000);
    }
    SUBCASE("until another call, whose bytes then wait for nothing of that") {
        stapgen_begin_tx_call(sender.sk(), 1, &sender.fault);
        stapgen_tx_call_has_lock(sender.sk(), 1, &sender.fault);
        sender.tcp().write_seq += 103;
        shim_time += 400;
        sender.attempt();
        check_cause(sender.send(), "autocork", 10400);
        sender.new_head(103, sender.tcp().snd_nxt);
        check_cause(sender.send(), "autocork", 400);
    }
}

TEST_CASE("who waits for the socket waits for nothing else") {
    Sender sender;
    sender.tcp().packets_out = 1, sender.tcp().snd_una = sender.tcp().snd_up = u32(-3);
    sender.call(101);
    sender.attempt();
    sender.ends();
    sender.sk()->sk_lock.owned = 1;
    stapgen_begin_tx_call(sender.sk(), 1, &sender.fault);
    shim_time += 3000;
    sender.sk()->sk_lock.owned = 0;
    stapgen_tx_call_has_lock(sender.sk(), 1, &sender.fault);
    sender.tcp().write_seq += 103;
    shim_time += 200;
    sender.attempt();
    check_cause(sender.send(), "nagle", 3200);
    sender.new_head(103, sender.tcp().snd_nxt);
    const Parts second = sender.send();
    check_cause(second, "socket-lock", 3000);
    check_cause(second, "nagle", 200);
}

TEST_CASE("a clock of another socket at that address, or of one forgotten, divides nothing") {
    Sender sender;
    sender.call(101);
    sender.attempt();
    sender.ends();
    SUBCASE("forgotten") {
        stapgen_erase_tx_clock(sender.socket.key());
    }
    SUBCASE("another socket's by now") {
        stapgen_socket_id other = stapgen_socket_id_of(sender.sk(), &sender.fault);
        other.cookie++;
        stapgen_tx_clock_of(sender.socket.key(), &other, shim_now());
    }
    SUBCASE("another CPU moves it") {
        stapgen_find_tx_clock(sender.socket.key())->ticked -= 7;
    }
    const Parts parts = sender.send();
    CHECK(parts.size() == 1);
    CHECK(parts.count("undivided") == 1);
}

TEST_CASE("a call that connects waits for the handshake") {
    for (const int state : {TCP_CLOSE, TCP_SYN_SENT, TCP_SYN_RECV}) {
        Sender sender;
        sender.sk()->__sk_common.skc_state = static_cast<unsigned char>(state);
        sender.call(101);
        shim_time += 30000;
        sender.sk()->__sk_common.skc_state = TCP_ESTABLISHED;
        sender.attempt();
        check_cause(sender.send(), "connect", 31000);
    }
}
