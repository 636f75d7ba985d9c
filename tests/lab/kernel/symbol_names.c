// SPDX-License-Identifier: GPL-2.0-or-later
// Names addresses as the running kernel does: what is written to /proc/symbol_names, one address of 16 hex digits a
// line, is read back as "ADDRESS<tab>%pS<tab>%pB".
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

enum { digits = 16, line = digits + 1, room = line << 16 };

static char* text;
static size_t filled;

static void* at(struct seq_file* file, loff_t* position) {
    return *position < filled / line ? text + *position * line : NULL;
}

static void* next(struct seq_file* file, void* current_line, loff_t* position) {
    ++*position;
    return at(file, position);
}

static void stop(struct seq_file* file, void* current_line) {}

static int show(struct seq_file* file, void* current_line) {
    char word[digits + 1] = {0};
    unsigned long address;
    int failed;

    memcpy(word, current_line, digits);
    failed = kstrtoul(word, 16, &address);
    if (failed) return failed;
    seq_printf(file, "%016lx\t%pS\t%pB\n", address, (void*)address, (void*)address);
    return 0;
}

static const struct seq_operations lines = {.start = at, .next = next, .stop = stop, .show = show};

static int open(struct inode* inode, struct file* file) {
    return seq_open(file, &lines);
}

static ssize_t write(struct file* file, const char __user* data, size_t size, loff_t* position) {
    ssize_t written = simple_write_to_buffer(text, room, position, data, size);
    if (written > 0) filled = *position;
    return written;
}

static const struct proc_ops operations = {.proc_open = open,
                                           .proc_read = seq_read,
                                           .proc_lseek = seq_lseek,
                                           .proc_release = seq_release,
                                           .proc_write = write};

static int __init load(void) {
    text = vmalloc(room);
    if (!text) return -ENOMEM;
    if (proc_create("symbol_names", 0600, NULL, &operations)) return 0;
    vfree(text);
    return -ENOMEM;
}

static void __exit unload(void) {
    remove_proc_entry("symbol_names", NULL);
    vfree(text);
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Names addresses as this kernel does");
