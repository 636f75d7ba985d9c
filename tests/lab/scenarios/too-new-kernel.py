# SPDX-License-Identifier: GPL-2.0-or-later
"""Where SystemTap's runtime does not compile for the kernel, stapgen says so before stap takes minutes to say it."""

DESCRIPTION = "suite bookworm-backports: doctor and build name the SystemTap that is too old for its kernel, and what to do"
IN_CI = ()
ALSO_ON = ("bookworm-backports",)


def prepare(lab):
    if lab.suite != "bookworm-backports":
        lab.skip("this suite's SystemTap knows its kernel")
    options = ["-r", lab.release, "--symbols", lab.symbols]
    for argv in (["doctor", "rx-latency", *options], ["build", "rx-latency", *options, "-o", "/lab/work/rx.ko"]):
        done = lab.stapgen(argv, check=False)
        said = " ".join((done.stdout + done.stderr).split())
        print(done.stdout + done.stderr)
        assert done.returncode == 4, done.returncode
        assert "does not compile for this kernel" in said and "install SystemTap 5.1 or newer" in said, said
        assert "runtime-too-old missing" in said or argv[0] == "build", said
        assert "stap pass" not in said, said
