# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that boots by UEFI with Secure Boot: shim and GRUB as Debian signs them, the root's kernel, and a key enrolled.

Firmware and tools are fetched each time. No hand is needed: the key is in the firmware's variables as if MokManager had put
it there.
"""

from . import initrd, machine

# In the root, with the initramfs, the key's certificate and what GRUB is to do in the folder that it runs in.
MAKE = r"""
set -e
apt-get -qq update
apt-get -qq -y --no-install-recommends install ovmf mtools python3-virt-firmware
apt-get -qq -o APT::Sandbox::User=root download shim-signed shim-helpers-amd64-signed grub-efi-amd64-signed
for package in ./*.deb; do dpkg -x $package signed; done
cp /usr/share/OVMF/OVMF_CODE_4M.secboot.fd code.fd
virt-fw-vars -i /usr/share/OVMF/OVMF_VARS_4M.ms.fd -o vars.fd --add-mok 8be4df61-93ca-11d2-aa0d-00e098032b8c mok.pem
truncate -s 128M disk.img
mformat -F -i disk.img ::
mmd -i disk.img ::/EFI ::/EFI/BOOT ::/EFI/debian
mcopy -i disk.img signed/usr/lib/shim/shimx64.efi.signed ::/EFI/BOOT/BOOTX64.EFI
mcopy -i disk.img signed/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed ::/EFI/BOOT/grubx64.efi
mcopy -i disk.img grub.cfg ::/EFI/debian/grub.cfg
mcopy -i disk.img /boot/vmlinuz-* ::/vmlinuz
mcopy -i disk.img initrd.gz ::/initrd.gz
rm -r signed ./*.deb
"""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def start(lab, name, certificate, arguments=""):
    """Return the words of a qemu that boots LAB's kernel with more ARGUMENTS; its files are in the work folder's NAME."""
    root, folder = lab.root, lab.work / name
    folder.mkdir()
    (folder / "mok.pem").write_bytes(certificate.read_bytes())
    (folder / "initrd.gz").write_bytes(initrd.archive(root, machine.MOUNT_OPTIONS))
    (folder / "grub.cfg").write_text(f"linux /vmlinuz {root.machine.kernel_arguments} {machine.LEAN} {arguments}\n"
                                     "initrd /initrd.gz\nboot\n")
    lab.chroot(["sh", "-c", f"cd /lab/work/{name}\n{MAKE}"], scratch=True, env={"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"})
    flash = [f"file={machine.escaped(folder / file)},if=pflash,format=raw,unit={unit}" for unit, file in enumerate(("code.fd", "vars.fd"))]
    return [root.machine.program, "-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on",
            *root.machine.words, "-display", "none", "-no-reboot", "-nodefaults",
            "-drive", f"{flash[0]},readonly=on", "-drive", flash[1],
            "-drive", f"file={machine.escaped(folder / 'disk.img')},if=none,id=esp,format=raw", "-device", "ide-hd,drive=esp,bootindex=0"]
