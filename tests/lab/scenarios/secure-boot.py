# SPDX-License-Identifier: GPL-2.0-or-later
"""Secure Boot as Debian has it (OVMF, shim, GRUB, a key of ours enrolled): modules that stapgen signs measure, others are
refused before they are loaded, and what bpftrace can do beside it; then the same with lockdown=confidentiality.
"""

import json
import subprocess

from lablib import firmware

DESCRIPTION = "Secure Boot with a key of ours, lockdown integrity and confidentiality: signed modules, and bpftrace"
# Not in CI: it fetches 60 MB of packages, and boots by the host's clock.
IN_CI = ()
BUILD = {"drops": ["dropwatch"]}
SIGN = "/lab/work/mok.key,/lab/work/mok.pem"
SIGNED = {"signed": "dropwatch", "other": "dropwatch", **{name: name for name in (
    "rx-latency", "tx-latency", "net-latency", "sock-latency", "connect-latency", "accept-latency", "tcp-probe", "packet-flow",
    "page-alloc", "irq-latency", "call-trace")}}
MODES = {"integrity": "", "confidentiality": "lockdown=confidentiality"}
# Connections that nobody takes; requests, and how many packets of a request and its reply each recipe sees at both ends.
DROPS, ASKED = 7, 101
SEEN = {"rx-latency": 2, "tx-latency": 2, "sock-latency": 2, "net-latency": 4, "packet-flow": 4}
TIMEOUT = 3600

SCRIPT = rf"""
modprobe efivarfs && mount -t efivarfs efivarfs /sys/firmware/efi/efivars || exit 1
mount -t securityfs securityfs /sys/kernel/security || exit 1
mkdir -p $MODE && cd $MODE || exit 1
modules=/lab/work
cat /sys/kernel/security/lockdown /sys/module/module/parameters/sig_enforce >lockdown
say() {{ name=$1; shift; "$@" >$name.out 2>$name.err; echo $? >$name.exit; }}
refused() {{ for i in $(seq {DROPS}); do bash -c '</dev/tcp/127.0.0.1/9' 2>/dev/null; done; }}
say doctor stapgen doctor dropwatch
for name in signed stranger drops; do say doctor-$name stapgen doctor $modules/$name.ko; done
say doctor-json stapgen doctor $modules/stranger.ko --json
for name in stranger drops; do say exec-$name stapgen exec $modules/$name.ko -d 1; done
say loaded staprun -L $modules/drops.ko

# Two modules at once, of one recipe.
for name in signed other; do begin_report $name json $modules/$name --format json; done
for name in signed other; do wait_traced $name.err || exit 1; done
refused
end_records signed other

# What this host compiles and signs itself.
say stap stap -p4 -e 'probe begin {{ exit() }}'
stapgen dropwatch --sign {SIGN} --no-workaround kept-module --format json >compiled.json 2>compiled.err &
TRACERS[compiled]=$!
wait_traced compiled.err && refused
end_records compiled

start_ready serve --port 7001 --read recv || exit 1
for recipe in {" ".join(name for name, recipe in SIGNED.items() if name == recipe)}; do
    begin_report $recipe json $modules/$recipe --format json
    wait_traced $recipe.err && ask --port 7001 --requests {ASKED} && refused
    end_records $recipe
done

# A fleet of this host alone: what it takes is signed for it.
ssh-keygen -q -t ed25519 -N "" -f /run/key && mkdir -p /run/sshd || exit 1
/usr/sbin/sshd -h /run/key -o AuthorizedKeysFile=/run/key.pub -o StrictModes=no -o UsePAM=no -o "SetEnv=PATH=$PATH XDG_CACHE_HOME=$XDG_CACHE_HOME"
for name in fleet unsigned; do
    sign=
    [ $name = unsigned ] || sign="--sign {SIGN}"
    stapgen fleet run dropwatch --hosts 127.0.0.1 -d 1h -o $name --ready-made $modules/drops.ko $sign \
        --ssh-option IdentityFile=/run/key --ssh-option StrictHostKeyChecking=no >$name.out 2>$name.err &
    TRACERS[$name]=$!
    wait_for "grep -q measuring $name.err || ! kill -0 ${{TRACERS[$name]}}" && refused
    end_records $name
done
stapgen report fleet/127.0.0.1.rec --json >fleet.json 2>fleet-report.err

export LD_LIBRARY_PATH=$modules/bpftrace/usr/lib/x86_64-linux-gnu
$modules/bpftrace/usr/bin/bpftrace -e 'BEGIN {{ printf("ready\n"); }} tracepoint:skb:kfree_skb {{ @[args.reason] = count(); }}' \
    >bpftrace.out 2>bpftrace.err &
TRACERS[bpftrace]=$!
wait_for "grep -q ready bpftrace.out || ! kill -0 ${{TRACERS[bpftrace]}}" && refused
end_records bpftrace
dmesg >dmesg
modules_left >modules-left
"""


def make_key(lab, name, subject):
    key, certificate = lab.work / f"{name}.key", lab.work / f"{name}.pem"
    subprocess.run(["openssl", "req", "-new", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", f"/CN={subject}/",
                    "-addext", "extendedKeyUsage=codeSigning", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate


def prepare(lab):
    certificate = make_key(lab, "mok", "lab 43")
    make_key(lab, "stranger", "stranger")
    for name, recipe in {**SIGNED, "stranger": "dropwatch"}.items():
        sign = SIGN.replace("mok", "stranger") if name == "stranger" else SIGN
        lab.stapgen(["build", recipe, "-r", lab.release, "--symbols", lab.symbols, "--sign", sign, "-o", f"/lab/work/{name}.ko"])
    lab.chroot(["sh", "-c", "mkdir -p /lab/work/debs/partial && apt-get -qq update && apt-get -qq -y --no-install-recommends -d "
                "-o Dir::Cache::archives=/lab/work/debs install bpftrace && cd /lab/work && "
                "for package in debs/*.deb; do dpkg -x $package bpftrace; done && rm -r debs"], scratch=True,
               env={"PATH": firmware.PATH, "DEBIAN_FRONTEND": "noninteractive"})
    for mode, argument in MODES.items():
        start = firmware.start(lab, f"firmware-{mode}", certificate, argument)
        # One CPU: qemu, on this clock, crashes kernels that patch their code while another runs it.
        lab.boot(f"MODE={mode}\n{SCRIPT}", TIMEOUT, real_time=True, cpus=1, start=start)


def check(lab):
    for mode in MODES:
        def read(name, folder=mode):
            return lab.read(f"{folder}/{name}")

        assert read("lockdown").splitlines()[0].count(f"[{mode}]") == 1, read("lockdown")
        for name, exit_code, texts in (
                ("doctor", 4, (f'lockdown is "{mode}"', "Secure Boot is on", "it has the keys of ", "lab 43")),
                ("doctor-signed", 0, ("signed by 'lab 43', whose key the kernel has", "will run here: stapgen exec ")),
                ("doctor-stranger", 4, ("signed by 'stranger', whose key the kernel does not have", "will not run here")),
                ("doctor-drops", 4, ("; this one has none", "will not run here")),
                ("exec-stranger", 4, ("signed by 'stranger', whose key the kernel does not have", "mokutil --import")),
                ("exec-drops", 4, ("the kernel refuses unsigned modules", "--sign mok.key,mok.pem")),
                ("loaded", 1, ("Key was rejected by service",)),
                # Without SYSTEMTAP_NOSIGN, which stapgen sets.
                ("stap", 1, ("machine owner keys",))):
            said = " ".join(f"{read(name + '.out')} {read(name + '.err')}".split())
            assert int(read(f"{name}.exit")) == exit_code and all(text in said for text in texts), (mode, name, said)
        for name in ("compiled", *SIGNED):
            assert read(f"{name}.exit").strip() == "0", (mode, name, read(f"{name}.err"))
            report = json.loads(read(f"{name}.json"))
            print(f"{mode} {name}: {report['accounting']['reported']} of {report['accounting']['seen']}")
            if report["recipe"] == "dropwatch":
                assert sum(row["count"] for row in report["drops"] if row["reason"] == "NO_SOCKET") == DROPS, (mode, name)
            assert report["accounting"]["reported"], (mode, name)
            if name in SEEN:
                assert report["accounting"]["seen"] == SEEN[name] * ASKED, (mode, name, report["accounting"])
        print(f"{mode} fleet: {read('fleet.out')}{read('unsigned.out')}")
        lost = sum(row["count"] for row in json.loads(read("fleet.json"))["drops"] if row["reason"] == "NO_SOCKET")
        assert read("fleet.exit").strip() == "0" and lost == DROPS, (mode, lost, read("fleet.err"))
        assert "the kernel refuses unsigned modules" in " ".join((read("unsigned.out") + read("unsigned.err")).split()), mode
        print(f"{mode} bpftrace: {read('bpftrace.out')}{read('bpftrace.err')}")
        assert (f"NO_SOCKET]: {DROPS}\n" in read("bpftrace.out")) == (mode == "integrity"), mode
        assert read("modules-left").strip() == "0", mode
