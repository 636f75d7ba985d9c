// SPDX-License-Identifier: GPL-2.0-or-later
// Compiled, and never linked: to a reader of .modinfo its object file is a module that stap made of a script with
// globals.
[[gnu::used, gnu::section(".modinfo")]] static const char info[] =
    "name=stap_0123456789abcdef\0vermagic=0.0.0-nowhere SMP\0description=systemtap-generated probe\0"
    "stapgen_recipe=0123456789abcdef\0"
    "parmtype=stapgen_filter:array of ulong\0parm=_stp_bufsize:buffer size\0parmtype=_stp_bufsize:int";

// As gcc puts the texts of a module there, stap's among them.
[[gnu::used, gnu::section(".rodata.str1.1")]] static const char texts[] =
    "kprobe.function(\"ip_rcv_core\")!\0timer.ms(10) if (!(__global_stapgen_live))\0kernel.trace(\"skb:kfree_skb\")\0"
    "stapgen\t4\tx,aggregated\tr\ttime:time\n\0x";
