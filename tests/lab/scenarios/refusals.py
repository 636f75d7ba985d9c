"""What a machine that cannot do it says, and what it says to do: exit code 4."""

DESCRIPTION = "not root, no stap, no headers: each with its own message, remedy and exit code"

AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def prepare(lab):
    def refused(argv, *words, before=()):
        done = lab.chroot([*before, "stapgen", *argv], check=False)
        print(f"$ {' '.join([*before, 'stapgen', *argv])}\n{done.stderr}[exit {done.returncode}]", flush=True)
        assert done.returncode == 4, done.returncode
        assert "hint: " in done.stderr
        for word in words:
            assert word in done.stderr, f"'{word}' is not in the message"

    build = ["build", "dropwatch", "-o", "/lab/work/x.ko"]
    refused([*build, "-r", "9.9.9-none"], "9.9.9-none", "linux-headers-9.9.9-none")
    refused([*build, "-r", lab.release, "--stap", "/no/stap"], "/no/stap", "apt-get install systemtap")
    refused([*build, "-r", lab.release], "root", before=AS_NOBODY)
    lab.stapgen([*build, "-r", lab.release, "--symbols", lab.symbols])
    refused(["exec", "/lab/work/x.ko"], "root", before=AS_NOBODY)
