// SPDX-License-Identifier: GPL-2.0-or-later
// Compiled, and never linked: to a reader its object file is a module with the parameters of all filters, that
// aggregates.
[[gnu::used, gnu::section(".modinfo")]] static const char info[] =
    "name=stap_0123456789abcdef\0vermagic=0.0.0-nowhere SMP\0description=systemtap-generated probe\0"
    "parmtype=stapgen_target_is_pid:int64_t\0"
    "parmtype=stapgen_comm_a:int64_t\0parmtype=stapgen_comm_b:int64_t\0"
    "parmtype=stapgen_comm_mask_a:int64_t\0parmtype=stapgen_comm_mask_b:int64_t\0"
    "parmtype=stapgen_filter:array of ulong\0"
    "parmtype=stapgen_wanted_netns:array of ulong\0parmtype=stapgen_wanted_cgroups:array of ulong\0"
    "parmtype=stapgen_container_netns:array of ulong\0"
    "parmtype=stapgen_dev_a:int64_t\0parmtype=stapgen_dev_b:int64_t\0"
    "parmtype=stapgen_dev_mask_a:int64_t\0parmtype=stapgen_dev_mask_b:int64_t\0"
    "parmtype=stapgen_mark:int64_t\0parmtype=stapgen_mark_mask:int64_t\0parmtype=stapgen_sample:int64_t";
[[gnu::used, gnu::section(".rodata.str1.1")]] static const char header[] =
    "stapgen\t4\trx-latency,aggregated\trx\ttime:time\tdrv-ip:stage";
