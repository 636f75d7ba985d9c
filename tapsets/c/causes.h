/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a packet waits for within a stage. Each cause is a part of it, and a field of a record: STAGE.CAUSE, with - for
 * _ in the name, in the order of these lists. */
#ifndef STAPGEN_CAUSES_H
#define STAPGEN_CAUSES_H

/* clang-format off */
/* app-tcp: between the send call and the segment's transmission. */
#define STAPGEN_TX_CAUSES_LIST(wait) \
    wait(send_call)      /* the send call: it copies, or nothing else is known to be in the way */ \
    wait(socket_lock)    /* for the socket, which another thread or softirq has */ \
    wait(connect)        /* for the handshake's end */ \
    wait(sending)        /* TCP sends, this segment or those before it in the same attempt */ \
    wait(nagle)          /* a small segment waits for the acknowledgment of the one before it */ \
    wait(cork)           /* the program has set TCP_CORK */ \
    wait(msg_more)       /* the program has said MSG_MORE */ \
    wait(autocork)       /* TCP waits for the device to be done with what it has */ \
    wait(cwnd)           /* the congestion window is full */ \
    wait(loss_recovery)  /* likewise, after a loss */ \
    wait(rwnd)           /* the receiver's window is full */ \
    wait(zero_window)    /* the receiver's window is shut */ \
    wait(sndbuf)         /* all that the send buffer takes is sent and not acknowledged */ \
    wait(notsent_lowat)  /* TCP_NOTSENT_LOWAT */ \
    wait(tcp_memory)     /* TCP may have no more memory */ \
    wait(pacing)         /* TCP's own pacing */ \
    wait(tsq)            /* enough of the socket's is in queues of this host */ \
    wait(tso_defer)      /* TSO deferral: for more to send at once */ \
    wait(local_drop)     /* this host refused it: IP, netfilter, a queue, no memory for a copy */ \
    wait(other)          /* none of these */ \
    wait(undivided)      /* its socket's clock is not known, or does not add up */
/* tcp-app: between TCP and the thread that takes the packet's last byte; of these udp-app has those behind the first. */
#define STAPGEN_TCP_APP_CAUSES_LIST(wait) \
    wait(backlog)        /* a thread holds the socket */ \
    wait(missing_bytes)  /* earlier bytes are not there */ \
    wait(rcvlowat)       /* there is less than SO_RCVLOWAT */ \
    wait(unread_bytes)   /* earlier bytes are not read, and what their reader does is not known */
#define STAPGEN_UDP_APP_CAUSES_LIST(wait) \
    wait(stack)          /* TCP's or UDP's own work until it is ready */ \
    wait(wake_up)        /* its thread slept for it and is being woken */ \
    wait(asleep)         /* its thread sleeps for something else, or is woken slowly */ \
    wait(run_queue)      /* its thread waits for a CPU */ \
    wait(program)        /* its thread runs, and has not asked for it yet */ \
    wait(recv_call)      /* its thread runs in the receiving call */ \
    wait(undivided)      /* of its thread: it was not looked at, or came and went too often */
/* app: between a request's read and the call that sends its reply, by what its thread does. */
#define STAPGEN_APP_CAUSES_LIST(wait) \
    wait(running)        /* it runs; interrupts and softirqs on top of it are in it */ \
    wait(syscall)        /* likewise in a system call, where these are looked at; else that is in running */ \
    wait(run_queue)      /* it waits for a CPU */ \
    wait(throttled)      /* likewise, and its cgroup has used up its quota */ \
    wait(disk)           /* it sleeps for a file or a block device */ \
    wait(swap)           /* it sleeps for a page that was swapped out */ \
    wait(memory)         /* the kernel looks for memory for it, or slows it down as its cgroup has too much */ \
    wait(lock)           /* it sleeps for a futex that says a thread has it */ \
    wait(futex)          /* it sleeps for another futex: a condition, a semaphore, a thread's end */ \
    wait(kernel_lock)    /* it sleeps for a lock of the kernel: of its memory map, of a file */ \
    wait(server)         /* it sleeps for a socket on which it has asked since it read the request */ \
    wait(process)        /* it sleeps for a pipe, a unix socket, an eventfd, a child */ \
    wait(timer)          /* it sleeps until a time */ \
    wait(other_sockets)  /* it sleeps for a socket on which it has not asked, or works for another request */ \
    wait(asleep)         /* it sleeps in another call, or a page fault */ \
    wait(goroutine)      /* a goroutine, which runs, or waits for whatever it waits, but a server */ \
    wait(handed_over)    /* another thread sends the reply, and what it did is not known */ \
    wait(undivided)      /* for which of several requests its thread waits is not known, or its clock is not */
/* clang-format on */
#define STAPGEN_RX_CAUSES_LIST(wait) STAPGEN_TCP_APP_CAUSES_LIST(wait) STAPGEN_UDP_APP_CAUSES_LIST(wait)

#define STAPGEN_TX_WAIT_NUMBER(name) STAPGEN_TX_WAIT_##name,
enum stapgen_tx_wait { STAPGEN_TX_CAUSES_LIST(STAPGEN_TX_WAIT_NUMBER) STAPGEN_TX_CAUSES };
#define STAPGEN_RX_WAIT_NUMBER(name) STAPGEN_RX_WAIT_##name,
enum stapgen_rx_wait_cause { STAPGEN_RX_CAUSES_LIST(STAPGEN_RX_WAIT_NUMBER) STAPGEN_RX_CAUSES };
#define STAPGEN_APP_WAIT_NUMBER(name) STAPGEN_APP_WAIT_##name,
enum stapgen_app_wait { STAPGEN_APP_CAUSES_LIST(STAPGEN_APP_WAIT_NUMBER) STAPGEN_APP_CAUSES };
enum { STAPGEN_CAUSES = STAPGEN_TX_CAUSES };
enum { STAPGEN_UDP_APP_FIRST = STAPGEN_RX_WAIT_stack };

#endif
