"""The virtual-machine lab: Debian roots, qemu guests and scenarios."""
