# SPDX-License-Identifier: GPL-2.0-or-later
"""dropwatch --stacks: each drop is in a call path, whose names come from the recording and another boot's map as well.

A loopback packet's path goes on to its sender; one that came by the network card's interrupt ends at its softirq.
"""

import json
import re

from lablib.events import read_report
from lablib.symbols import kernel_map

DESCRIPTION = "call paths of drops: from nft, a full buffer and a closed port to the senders, named live and offline; folded; filtered"
IN_CI = ("trixie",)
NET = True
APPEND = "maxcpus=1"  # without threadirqs: softirqs run as interrupts return
BUILD = {"drops": ["dropwatch", "--stacks"], "plain": ["dropwatch"]}

BY_RULE, DATAGRAMS, REFUSED, FROM_CARD = 103, 211, 109, 53

GUEST = f"""
drop_by_rule 7013 || exit 1
nft add rule ip lab input udp dport 7014 counter drop || exit 1
record all drops || exit 1
record some drops --filter 'udp port 7013' || exit 1
record plain plain || exit 1
for i in $(seq {BY_RULE}); do echo x >/dev/udp/127.0.0.1/7013; done
drops full-buffer {DATAGRAMS} >full || exit 1
drops refused {REFUSED} || exit 1
outside bash -c 'for i in $(seq {FROM_CARD}); do echo x >/dev/udp/10.0.2.15/7014; done'
end_records all some plain
cat /proc/modules >modules
finish
"""

# reason -> functions in their order, the sender's first
PATHS = {"NETFILTER_DROP": ("udp_sendmsg", "__dev_queue_xmit", "net_rx_action", "nf_hook_slow"),
         "SOCKET_RCVBUFF": ("udp_sendmsg", "__dev_queue_xmit", "net_rx_action", "udp_queue_rcv_one_skb"),
         "NO_SOCKET": ("tcp_v4_connect", "net_rx_action", "tcp_v4_rcv")}
# One of them frees it, by the kernel.
BY_NFT = ("nf_hook_slow", "nft_do_chain")


def by_reason(rows):
    counts = {}
    for row in rows:
        counts[row["reason"]] = counts.get(row["reason"], 0) + row["count"]
    return counts


def check(lab):
    report, plain = read_report(lab, "all"), read_report(lab, "plain")
    assert "stacks" not in plain and by_reason(plain["drops"]) == by_reason(report["drops"])
    counts = by_reason(report["stacks"])
    full = int(re.search(r"dropped (\d+)", lab.read("full"))[1])
    expected = {"NETFILTER_DROP": BY_RULE + FROM_CARD, "SOCKET_RCVBUFF": full, "NO_SOCKET": REFUSED}
    print(f"{lab.suite}: {counts}, {len(report['stacks'])} paths")
    assert counts == by_reason(report["drops"]), (counts, by_reason(report["drops"]))
    assert expected.items() <= counts.items(), counts
    assert report["accounting"]["other"]["paths-evicted"] == 0

    folded = lab.report("all", "--format", "folded")
    print(folded)
    lines = [line.rpartition(" ") for line in folded.splitlines()]
    assert sum(int(count) for _, _, count in lines) == sum(counts.values())
    from_card = 0
    for path, _, count in lines:
        *frames, reason = path.split(";")
        assert not any(re.match(r"irq_exit|__irq_exit|asm_common_interrupt|asm_sysvec|el1_interrupt|el1h_64_irq|stap_|kfree_skb|__traceiter", name)
                       for name in frames), path
        if reason == "NETFILTER_DROP" and "udp_sendmsg" not in frames:
            from_card += int(count)
            assert frames[-1] in BY_NFT and "net_rx_action" in frames, path
            continue
        if reason in PATHS:
            assert frames[0].startswith(("entry_SYSCALL_64", "el0t_64_sync")), path
            places = [frames.index(name) for name in PATHS[reason]]
            assert places == sorted(places) and (places[-1] == len(frames) - 1 or frames[-1] in BY_NFT), path
    assert from_card == FROM_CARD, from_card

    some = read_report(lab, "some")
    assert by_reason(some["stacks"]) == {"NETFILTER_DROP": BY_RULE}, some["stacks"]
    assert some["accounting"]["seen"] == report["accounting"]["seen"]

    if lab.root.architecture == "arm64":
        return  # a module's file names nothing there
    # Without the names that the recording has: by the map of another boot, and the offset of this one.
    text = lab.read_recording("all.rec")
    bare, found = re.subn(r'"addresses":\[[^]]*\]', '"addresses":[]', text)
    assert found == 1
    (lab.work / "bare.txt").write_text(bare)
    (lab.work / "other-boot.map").write_text(kernel_map(lab.root))
    unnamed = lab.analyse(["report", "bare.txt", "--format", "json"]).stdout
    assert not any(frame["symbol"] for stack in json.loads(unnamed)["stacks"] for frame in stack["frames"])
    named = lab.stapgen(["report", "bare.txt", "--map", "other-boot.map", "--map", f"/usr/lib/modules/{lab.release}", "--format", "folded"])
    assert named.stdout == folded, named.stdout + named.stderr
    assert lab.read("modules-left").strip() == "0"
