// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/counter_reader.h"

namespace stapgen::decode {

namespace {

using Kind = CounterShape::Kind;

/// The output of nstat, and /proc/net/snmp6, dev_snmp6 and xfrm_stat: a name and a number, of nstat a rate behind it.
///     #kernel
///     IpInReceives                    2101517            0.0
///     Udp6InDatagrams                 95254
/// Without -a nstat prints rises, which only the command shows; a device of dev_snmp6 is in the path only.
constexpr CounterShape nstat_shapes[]{
    {"#kernel", "", Kind::begin},     {"ifIndex *", "index"}, {"*/dev_snmp6/*:ifIndex *", "- @ #"},
    {"*/dev_snmp6/*:* *", "- @ & ="}, {"* *", "& ="},         {"* * *", "& = ~"},
    {"* * * (overflow)", "& = ~"},    {"{*", "json"},
};

/// The output of `ip -s link`, `ip -s -s link` and `ip -s addr`; names of columns have changed with iproute2's
/// versions:
///     2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000
///         link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff
///         RX: bytes  packets  errors  dropped overrun mcast        from 5.13 on "missed" in the place of "overrun"
///         1234       12       0       0       0       0
/// Those of a virtual function ("vf 0 ...") are of "eth0.vf0". Counters are called as the members of struct
/// rtnl_link_stats64, by print_stats64() of iproute2's ip/ipaddress.c.
constexpr CounterShape ip_shapes[]{
    {"*: *: <*", "# @ -"},
    {"vf * *", "vf -", Kind::in_block},
    {"RX: *", "", Kind::next,
     "bytes=rx_bytes packets=rx_packets errors=rx_errors dropped=rx_dropped overrun=rx_over_errors "
     "missed=rx_missed_errors mcast=multicast bcast=rx_broadcast compressed=rx_compressed"},
    {"RX errors: *", "", Kind::next,
     "length=rx_length_errors crc=rx_crc_errors frame=rx_frame_errors fifo=rx_fifo_errors missed=rx_missed_errors "
     "overrun=rx_over_errors nohandler=rx_nohandler otherhost=rx_otherhost_dropped"},
    {"TX: *", "", Kind::next,
     "bytes=tx_bytes packets=tx_packets errors=tx_errors dropped=tx_dropped carrier=tx_carrier_errors "
     "collsns=collisions compressed=tx_compressed"},
    {"TX errors: *", "", Kind::next,
     "aborted=tx_aborted_errors fifo=tx_fifo_errors window=tx_window_errors heartbeat=tx_heartbeat_errors "
     "heartbt=tx_heartbeat_errors transns=carrier_changes"},
    {"[{*", "json"}};

/// The output of ifconfig, of net-tools 1.60 ("RX packets:12 errors:0") and busybox, and of 2.x ("RX packets 12  bytes
/// 1234"). It reads /proc/net/dev, as netstat -i does, and so its names are those.
constexpr CounterShape ifconfig_shapes[]{
    {"* Link encap:*", "@ -"},
    {"*: flags=*", "@ -"},
    {"RX packets:* errors:* dropped:* overruns:* frame:*", "rx_packets rx_errs rx_drop rx_fifo rx_frame"},
    {"TX packets:* errors:* dropped:* overruns:* carrier:*", "tx_packets tx_errs tx_drop tx_fifo tx_carrier"},
    {"collisions:*", "tx_colls"},
    {"collisions:* txqueuelen:*", "tx_colls #"},
    {"RX bytes:* (*) TX bytes:* (*)", "rx_bytes - tx_bytes -"},
    {"RX packets * bytes * (*)", "rx_packets rx_bytes -"},
    {"TX packets * bytes * (*)", "tx_packets tx_bytes -"},
    {"RX errors * dropped * overruns * frame *", "rx_errs rx_drop rx_fifo rx_frame"},
    {"TX errors * dropped * overruns * carrier * collisions *", "tx_errs tx_drop tx_fifo tx_carrier tx_colls"}};

/// The output of `netstat -i` (net-tools 1.60 to 2.10):
///     Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg
///     eth0      1500   212531      3     40 2        135635      0      5      0 BMRU
constexpr CounterShape netstat_i_shapes[]{
    {"Kernel Interface table", "", Kind::begin},
    {"Iface *", "@", Kind::table,
     "MTU=- Met=- RX-OK=rx_packets RX-ERR=rx_errs RX-DRP=rx_drop RX-OVR=rx_fifo TX-OK=tx_packets TX-ERR=tx_errs "
     "TX-DRP=tx_drop TX-OVR=tx_fifo Flg=-"}};

/// The output of `sar -n EDEV` and `sar -n DEV` (sysstat 7 to 12.7): rates of what /proc/net/dev has (read_net_edev()
/// and read_net_dev() of its rd_stats.c), behind the end of their sample; kB and % are rounded. With -h devices are
/// last.
///     10:00:01 AM     IFACE   rxerr/s   txerr/s    coll/s  rxdrop/s  txdrop/s  txcarr/s  rxfram/s  rxfifo/s  txfifo/s
///     10:00:11 AM      eth0      0.00      0.00      0.00      3.10      0.00      0.00      0.00      0.00      0.00
///     Average:         eth0      0.00      0.00      0.00      3.10      0.00      0.00      0.00      0.00      0.00
constexpr std::string_view sar_columns =
    "IFACE=@ rxerr/s=rx_errs txerr/s=tx_errs coll/s=tx_colls rxdrop/s=rx_drop txdrop/s=tx_drop txcarr/s=tx_carrier "
    "rxfram/s=rx_frame rxfifo/s=rx_fifo txfifo/s=tx_fifo rxpck/s=rx_packets txpck/s=tx_packets rxbyt/s=- txbyt/s=- "
    "rxkB/s=- txkB/s=- rxcmp/s=rx_compressed txcmp/s=tx_compressed rxmcst/s=rx_multicast %ifutil=-";
constexpr CounterShape sar_shapes[]{{"* IFACE *", "clock @", Kind::table, sar_columns},
                                    {"* rxerr/s *", "clock rx_errs", Kind::table, sar_columns},
                                    {"* rxpck/s *", "clock rx_packets", Kind::table, sar_columns},
                                    {"* LINUX RESTART *", "clock -"}};

/// The output of `ip neigh` and `ip -s neigh`, also busybox's, and with -s twice:
///     10.0.0.5 dev eth0 lladdr 52:54:00:12:34:56 ref 1 used 12/9/5 probes 4 REACHABLE
///     10.0.0.9 dev eth0  used 12/9/5 probes 6 FAILED
/// Of a device that it is asked for lines have no "dev eth0".
constexpr CounterShape neighbour_shapes[]{{"* dev * *", "ip @ neighbour"}, {"* *", "ip ! neighbour", Kind::in_block}};

/// /proc/net/dev: NAME: and 16 numbers for each device, below two lines of headings. Old kernels leave no blank behind
/// the colon, and an alias of a device has one in its name: "eth0:1:". Names are "dev.rx_drop", as the kernel adds
/// several counters of `ip -s link` up for most of them (dev_seq_printf_stats in net/core/net-procfs.c).
constexpr CounterShape proc_net_dev_shapes[]{
    {"Inter-|*", "-"},
    {"face |bytes *", "-"},
    {"* * * * * * * * * * * * * * * *",
     "@: rx_bytes rx_packets rx_errs rx_drop rx_fifo rx_frame rx_compressed rx_multicast tx_bytes tx_packets tx_errs "
     "tx_drop tx_fifo tx_colls tx_carrier tx_compressed"}};

/// The output of `ethtool -S DEV`: names of the driver's own, blanks and brackets in them. Only the command before it
/// names the device, or a loop's heading. What grep left of it is read where the command is there.
///     NIC statistics:
///          rx_queue_0_drops: 17
///          [0]: rx_discards: 0
/// `column` puts several into a line, and what a page has left of HTML may be a line of all.
constexpr CounterShape ethtool_shapes[]{{"NIC statistics:", "", Kind::begin},
                                        {"NIC statistics: *", "columns", Kind::begin},
                                        {"*ethtool -S * NIC statistics: *", "- @ columns", Kind::begin},
                                        {"Standard stats for *:", "@"},
                                        {"*", "columns", Kind::in_block},
                                        {"*", "&: =", Kind::in_block}};

/// `grep . /sys/class/net/*/statistics/*`, counters as `ip -s link` has them.
constexpr CounterShape sysfs_shapes[]{{"*/statistics/*:*", "/ & ="}};

/// The output of `tc -s qdisc`; the name of the device that it is asked for is in the command only. A qdisc that was
/// put there has a handle of its own:
///     qdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms ecn
///      Sent 123456 bytes 1234 pkt (dropped 3, overlimits 0 requeues 17)
///      backlog 0b 0p requeues 17
///       maxpacket 1514 drop_overlimit 2 new_flow_count 5 ecn_mark 12
constexpr CounterShape qdisc_shapes[]{
    {"qdisc * *: dev * root *", "word handle @ -"},
    {"qdisc * *: dev * parent * *", "word handle @ word -"},
    {"qdisc * *: root *", "word handle ! -"},
    {"qdisc * *: parent * *", "word handle ! word -"},
    {"Sent * bytes * pkt (dropped *, overlimits * requeues *)", "bytes packets dropped overlimits requeues",
     Kind::in_block},
    {"Sent * bytes * pkts (dropped *, overlimits *)", "bytes packets dropped overlimits", Kind::in_block},
    {"maxpacket * *", "# pairs", Kind::in_block},
    {"marked * early * pdrop * other *", "marked early pdrop other", Kind::in_block}};

/// The output of `tc -s class` (print_class() of iproute2's tc/tc_class.c). A class has the packets of those below it,
/// too, but fq_codel's have none:
///     class htb 1:10 dev eth0 parent 1:1 leaf 10: prio 0 rate 100Mbit ceil 1Gbit burst 1600b cburst 1375b
///      Sent 123456 bytes 1234 pkt (dropped 3, overlimits 17 requeues 0)
///      backlog 0b 0p requeues 0
///      lended: 1100 borrowed: 134 giants: 0
///      tokens: 1912 ctokens: 171
constexpr CounterShape class_shapes[]{
    {"class * * dev * root *", "word word @ -"},
    {"class * * dev * parent * *", "word word @ - -"},
    {"class * * root *", "word word ! -"},
    {"class * * parent * *", "word word ! - -"},
    {"Sent * bytes * pkt (dropped *, overlimits * requeues *)", "bytes packets dropped overlimits requeues",
     Kind::in_block},
    {"Sent * bytes * pkts (dropped *, overlimits *)", "bytes packets dropped overlimits", Kind::in_block},
    {"(dropped *, overlimits * requeues *)", "dropped overlimits requeues", Kind::in_block},
    {"lended: * borrowed: * giants: *", "lended borrowed giants", Kind::in_block}};

/// The output of `conntrack -S`, and /proc/net/stat/nf_conntrack below, which has the same counters of the kernel:
///     cpu=0   found=27 invalid=12 insert=0 insert_failed=6 drop=6 early_drop=0 error=0 search_restart=1163
/// Where it does not have them by netlink it prints that file's first line alone, however many CPUs there are
/// (display_proc_conntrack_stats() of conntrack-tools' src/conntrack.c):
///     entries                 90
///     searched                2228
constexpr CounterShape conntrack_shapes[]{
    {"cpu=* *", "cpu pairs"},
    {"entries *", "#", Kind::begin},
    {"* *", "& =", Kind::in_block,
     "searched found new invalid ignore delete delete_list insert insert_failed drop early_drop icmp_error=error "
     "error expect_new expect_create expect_delete search_restart clash_resolve chaintoolong clashres=clash_resolve "
     "chainlength=chaintoolong"}};

/// The last lines of tcpdump (info() in its tcpdump.c):
///     1234 packets captured
///     1300 packets received by filter
///     17 packets dropped by kernel
constexpr CounterShape tcpdump_shapes[]{{"* packet* captured", "captured s"},
                                        {"* packet* received by filter", "received_by_filter s"},
                                        {"* packet* dropped by kernel", "dropped_by_kernel s"},
                                        {"* packet* dropped by interface", "dropped_by_interface s"}};

/// Files of /proc/net/stat: a line of hexadecimal numbers for each CPU. `entries` is the same in each, and no counter.
/// Which neighbours one is of, its name says: arp_cache, ndisc_cache.
constexpr CounterShape stat_shapes[]{
    {"entries *", "row", Kind::table,
     "searched clashres=clash_resolve found new invalid ignore delete delete_list chainlength=chaintoolong insert "
     "insert_failed drop early_drop icmp_error=error expect_new expect_create expect_delete search_restart",
     "conntrack"},
    {"entries *", "! row", Kind::table,
     "allocs destroys hash_grows lookups hits res_failed rcv_probes_mcast rcv_probes_ucast periodic_gc_runs "
     "forced_gc_runs unresolved_discards table_fulls",
     "neigh"},
    {"entries *", "row", Kind::table,
     "in_hit in_slow_tot in_slow_mc in_no_route in_brd in_martian_dst in_martian_src out_hit out_slow_tot out_slow_mc "
     "gc_total gc_ignored gc_goal_miss gc_dst_overflow in_hlist_search out_hlist_search",
     "rt_cache"},
    {"entries *", "row", Kind::table, "syn_received cookie_invalid cookie_valid cookie_retrans conn_reopened",
     "synproxy"}};

/// /proc/net/udp and udp6: a line for each socket; addresses have 8 or 32 digits. Of one port they are added up.
///     sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
///     466: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   0        0 14286 2 ffff88 319
constexpr CounterShape udp_shapes[]{
    {"sl local_address rem*_address st tx_queue *", "", Kind::begin},
    {"*: *:* *:* * *:* *:* * * * * * * *", "# hex8 port - - - - - - - - # # # # - udp.drops"},
    {"*: *:* *:* * *:* *:* * * * * * * *", "# hex32 port - - - - - - - - # # # # - udp6.drops"}};

/// /proc/net/sockstat and sockstat6: "TCP: inuse 23 orphan 0 tw 1 alloc 25 mem 3".
constexpr CounterShape sockstat_shapes[]{{"*: *", "group pairs"}};

/// The output of `ss -ti`, `ss -m` and `ss -u` for each socket (iproute2's misc/ss.c). retrans has those under way
/// before the slash; times are ms; d is how many packets the socket dropped. With -O it is one line.
///     ESTAB 0      3235770     10.0.1.29:42314   10.0.1.37:5201
///          cubic wscale:7,7 rto:204 ... busy:438588ms rwnd_limited:433148ms(98.8%) retrans:0/244
///     UNCONN 213248 0          127.0.0.1:8125      0.0.0.0:*    users:(("demod",pid=900,fd=7))
///          skmem:(r213248,rb212992,t0,tb212992,f3840,w0,o0,bl0,d9182)
constexpr CounterShape ss_shapes[]{
    {"*Recv-Q Send-Q Local Address:Port *", "", Kind::begin},
    {"* * * * * *", "tcp # # addr addr more"},
    {"tcp * * * * * *", "tcp # # addr addr more"},
    {"* * * * * * *", "udp tcp # # addr addr more"},
    {"* * * * *", "# # addr addr more", Kind::in_block},
    {"*", "pairs", Kind::in_block},
};

/// The output of `netstat -s`: sentences, of counters that it does not know their names (netstat_text.cpp).
constexpr CounterShape netstat_shapes[]{{"*:", "section"}, {"*", "sentence"}};

/// /proc/net/snmp and /proc/net/netstat: a line of names and one of values for each group.
///     Udp: InDatagrams NoPorts InErrors OutDatagrams
///     Udp: 225645 9337 1408 236183
/// Where a mail has broken the line, which value is whose is not known.
constexpr CounterShape snmp_shapes[]{{"*: *", "group:", Kind::table}};

/// /proc/net/softnet_stat: a line of numbers of eight hexadecimal digits for each CPU; and what scripts make of it:
///     cpu      total    dropped   squeezed  collision        rps flow_limit
///       0 3381082968          7        113         41          0          0
constexpr CounterShape softnet_shapes[]{
    {"*", "softnet"},
    {"cpu *", "cpu", Kind::table,
     "total=processed processed dropped squeezed=time_squeeze time_squeeze collision=- collisions=- rps=received_rps "
     "received_rps flow_limit flow_limit_count=flow_limit",
     "softnet"}};

constexpr CounterFormat formats[]{
    {.title = "nstat",
     .asked = {.command = "nstat", .path = "/proc/net/dev_snmp6/"},
     .of = of_namespace,
     .names_device = true,
     .leaves_out_zeros = true,
     .shapes = nstat_shapes},
    {.title = "netstat -s",
     .asked = {.command = "netstat", .option = "s"},
     .of = of_namespace,
     .leaves_out_zeros = true,
     .shapes = netstat_shapes},
    {.title = "/proc/net/snmp", .asked = {.path = "/proc/net/snmp"}, .of = of_namespace, .shapes = snmp_shapes},
    {.title = "/proc/net/softnet_stat",
     .asked = {.path = "/proc/net/softnet_stat"},
     .ends_at_noise = true,
     .shapes = softnet_shapes},
    {.title = "/proc/net/dev", .asked = {.path = "/proc/net/dev"}, .prefix = "dev", .shapes = proc_net_dev_shapes},
    {.title = "ip -s link",
     .asked = {.command = "ip", .option = "s", .objects = "link l addr address a", .arguments = "show list ls dev up"},
     .prefix = "link",
     .names_device = true,
     .shapes = ip_shapes,
     .details =
         "link inet inet6 valid_lft altname alias permaddr prog vlan ingress-qos-map egress-qos-map bond "
         "bond_slave bridge bridge_slave vxlan veth tun dummy macvlan macvtap ipvlan gre gretap ip6gre ip6gretap "
         "ipip sit ip6tnl vti vti6 geneve vrf vrf_slave team team_slave ipoib can wireguard xfrm macsec hsr ifb "
         "openvswitch nlmon vcan promiscuity"},
    {.title = "ifconfig",
     .asked = {.command = "ifconfig"},
     .prefix = "dev",
     .names_device = true,
     .shapes = ifconfig_shapes,
     .details =
         "inet inet6 ether loop unspec infiniband UP BROADCAST POINTOPOINT LOOPBACK Interrupt Memory Base device"},
    {.title = "netstat -i",
     .asked = {.command = "netstat", .option = "i"},
     .prefix = "dev",
     .ends_at_noise = true,
     .shapes = netstat_i_shapes},
    {.title = "sar -n",
     .asked = {.command = "sar", .option = "n", .objects = "EDEV DEV DEV,EDEV EDEV,DEV ALL"},
     .prefix = "dev",
     .ends_at_noise = true,
     .from_zero = true,
     .are_rates = true,
     .shapes = sar_shapes,
     .bare_row = "clock lan rx_errs tx_errs tx_colls rx_drop tx_drop tx_carrier rx_frame rx_fifo tx_fifo"},
    {.title = "ip -s neigh",
     .asked = {.command = "ip",
               .objects = "neigh neighbour neighbor neighb neig nei ne n",
               .arguments = "show list ls dev unused nud all failed incomplete stale reachable delay probe permanent"},
     .names_device = true,
     .ends_at_noise = true,
     .has_parts = true,
     .shapes = neighbour_shapes},
    {.title = "/sys/class/net/*/statistics",
     .asked = {.path = "/sys/class/net/"},
     .prefix = "link",
     .shapes = sysfs_shapes},
    {.title = "tc -s qdisc",
     .asked = {.command = "tc", .option = "s", .objects = "qdisc", .arguments = "show ls list dev"},
     .prefix = "qdisc",
     .names_device = true,
     .ends_at_noise = true,
     .shapes = qdisc_shapes,
     .details = "backlog rate new_flows_len count flows gc",
     .pair = ' ',
     .counters = "drop_overlimit new_flow_count ecn_mark ce_mark drop_overmemory"},
    {.title = "tc -s class",
     .asked = {.command = "tc", .option = "s", .objects = "class", .arguments = "show ls list dev"},
     .prefix = "class",
     .names_device = true,
     .ends_at_noise = true,
     .shapes = class_shapes,
     .details = "backlog rate tokens deficit period borrowed"},
    {.title = "conntrack -S",
     .asked = {.command = "conntrack", .option = "S"},
     .prefix = "conntrack",
     .of = "cpu0",
     .shapes = conntrack_shapes},
    {.title = "tcpdump",
     .asked = {},
     .prefix = "tcpdump",
     .of = of_namespace,
     .from_zero = true,
     .shapes = tcpdump_shapes},
    {.title = "/proc/net/stat",
     .asked = {.path = "/proc/net/stat/"},
     .prefix = "stat",
     .names_device = true,
     .ends_at_noise = true,
     .shapes = stat_shapes},
    {.title = "/proc/net/udp", .asked = {.path = "/proc/net/udp"}, .has_parts = true, .shapes = udp_shapes},
    {.title = "/proc/net/sockstat",
     .asked = {.path = "/proc/net/sockstat"},
     .prefix = "sockstat",
     .of = of_namespace,
     .shapes = sockstat_shapes,
     .pair = ' ',
     .groups = "sockets TCP TCP6 UDP UDP6 UDPLITE UDPLITE6 RAW RAW6 FRAG FRAG6",
     .states = "used inuse orphan tw alloc mem memory"},
    {.title = "ss",
     .asked = {.command = "ss"},
     .prefix = "ss",
     .leaves_out_zeros = true,
     .ends_at_noise = true,
     .shapes = ss_shapes,
     .pair = ':',
     .counters = "bytes_sent bytes_retrans bytes_acked bytes_received segs_out segs_in data_segs_out data_segs_in "
                 "delivered delivered_ce retrans dsack_dups reord_seen rcv_ooopack busy=busy_ms "
                 "rwnd_limited=rwnd_limited_ms sndbuf_limited=sndbuf_limited_ms skmem=drops",
     .states = "lost unacked notsent backoff"},
    // Last: its names may be any.
    {.title = "ethtool -S",
     .asked = {.command = "ethtool", .option = "S", .arguments = "eth-phy eth-mac eth-ctrl rmon"},
     .prefix = "ethtool",
     .names_device = true,
     .ends_at_noise = true,
     .has_parts = true,
     .shapes = ethtool_shapes}};

}  // namespace

std::span<const CounterFormat> counter_formats() {
    return formats;
}

}  // namespace stapgen::decode
