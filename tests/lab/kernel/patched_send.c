// SPDX-License-Identifier: GPL-2.0-or-later
// A live patch of inet_sendmsg(), which does what it did for sockets that have a port.
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/net.h>
#include <net/inet_sock.h>
#include <net/sock.h>

#ifdef CONFIG_LIVEPATCH
#include <linux/livepatch.h>

static int patched_sendmsg(struct socket* socket, struct msghdr* message, size_t size) {
    if (!inet_sk(socket->sk)->inet_num) return -EAGAIN;
    return socket->sk->sk_prot->sendmsg(socket->sk, message, size);
}

static struct klp_func functions[] = {{.old_name = "inet_sendmsg", .new_func = patched_sendmsg}, {}};
static struct klp_object objects[] = {{.funcs = functions}, {}};
static struct klp_patch patch = {.mod = THIS_MODULE, .objs = objects};

static int __init load(void) {
    return klp_enable_patch(&patch);
}
MODULE_INFO(livepatch, "Y");
#else
static int __init load(void) {
    return -EOPNOTSUPP;
}
#endif

// It goes once the patch is disabled.
static void __exit unload(void) {}

module_init(load);
module_exit(unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Patches a function by itself");
