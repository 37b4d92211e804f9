// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* DenseFS in a kernel: loading, unloading, and the door through which calls come in.
 *
 * The kernel answers system calls that it does not know in one function. A jump is written over the
 * beginning of that, so that calls with numbers that it does not use come here, on the same way and
 * at the same cost as the kernel's own. That is for guests that exist to be measured: a
 * module must not do it on a machine that is used for anything else. */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/vmalloc.h>

#include "calls.h"
#include "densefs.h"

/* What guests of the lab have in their arguments. */
static bool in_lab;
module_param(in_lab, bool, 0444);
MODULE_PARM_DESC(in_lab, "that this is a guest which may be spoilt");

static ulong size = 64 << 20;
module_param(size, ulong, 0444);
MODULE_PARM_DESC(size, "of the file system, in bytes");

static ulong secret;
module_param(secret, ulong, 0444);
MODULE_PARM_DESC(secret, "from which places of names follow; random if 0");

struct densefs_state densefs;

/* Functions of the kernel that it does not offer to modules. */
static struct {
	unsigned long (*lookup)(const char *name);
	void (*poke)(void *at, const void *code, size_t length, const void *emulated);
	struct mutex *text_mutex;
} kernel;

#define JUMP_BYTES 5

/* Where the kernel answers calls that it does not know. */
static u8 *unknown_call;
static u8 before[JUMP_BYTES];
static u8 jump[JUMP_BYTES];

/* How that function begins in kernels that this has been tried with: a place for the tracer's
 * call, or "mov $-ENOSYS, %rax". */
static const u8 beginnings[][JUMP_BYTES] = {
	{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	{ 0x48, 0xc7, 0xc0, 0xda, 0xff },
};

static long (*const calls[])(const struct pt_regs *registers) = {
#define DENSEFS_ROW(call) call,
	DENSEFS_EACH_CALL(DENSEFS_ROW)
#undef DENSEFS_ROW
};

/* All calls whose numbers the kernel does not use come here. */
static first_often long enter(const struct pt_regs *registers)
{
	unsigned long number = registers->orig_ax - DENSEFS_FIRST_CALL;
	long answer;

	if (unlikely(number >= ARRAY_SIZE(calls)))
		return -ENOSYS;
	atomic_inc(&densefs.inside);
	answer = calls[number](registers);
	atomic_dec(&densefs.inside);
	return answer;
}

void densefs_bug(void)
{
	pr_emerg("densefs: the core has found what cannot be\n");
	BUG();
}

/* Finds what the kernel does not offer, by the address of a probe on the function that finds all
 * else. */
static int find_functions(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	int failed = register_kprobe(&probe);

	if (failed)
		return failed;
	kernel.lookup = (void *)probe.addr;
	unregister_kprobe(&probe);
	kernel.poke = (void *)kernel.lookup("text_poke_bp");
	kernel.text_mutex = (void *)kernel.lookup("text_mutex");
	unknown_call = (void *)kernel.lookup("__x64_sys_ni_syscall");
	return kernel.poke && kernel.text_mutex && unknown_call ? 0 : -ENOENT;
}

static int check_door(void)
{
	int each;
	s64 distance = (u8 *)enter - (unknown_call + JUMP_BYTES);
	s32 relative = distance;

	memcpy(before, unknown_call, JUMP_BYTES);
	jump[0] = 0xe9;
	memcpy(jump + 1, &relative, sizeof(relative));
	for (each = 0; each < ARRAY_SIZE(beginnings); each++)
		if (!memcmp(before, beginnings[each], JUMP_BYTES) && relative == distance)
			return 0;
	pr_err("densefs: cannot be loaded: __x64_sys_ni_syscall begins with %*ph here\n",
	       JUMP_BYTES, before);
	return -EOPNOTSUPP;
}

/* Whoever comes by while this happens is led along the jump. */
static void write_door(const u8 *code)
{
	mutex_lock(kernel.text_mutex);
	kernel.poke(unknown_call, code, JUMP_BYTES, jump);
	mutex_unlock(kernel.text_mutex);
}

static int make_file_system(void)
{
	u64 of_inodes;
	long made;

	if (!secret)
		secret = get_random_u64();
	of_inodes = secret * 0x9e3779b97f4a7c15ULL;
	densefs.arena_bytes = PAGE_ALIGN(size);
	densefs.process_bytes = densefs_process_bytes();
	densefs.memory =
		vzalloc(densefs.arena_bytes + DENSEFS_PROCESSES * densefs.process_bytes);
	if (!densefs.memory)
		return -ENOMEM;
	made = densefs_mount(densefs.memory, densefs.arena_bytes, secret, of_inodes,
			     DENSEFS_PROCESSES + 4);
	if (made < 0) {
		pr_err("densefs: %lu bytes are not enough for a file system\n", size);
		vfree(densefs.memory);
	}
	return made;
}

static int __init densefs_init(void)
{
	int failed;

	if (!in_lab) {
		pr_err("densefs: for lab guests only, since it changes the running kernel: "
		       "load it with in_lab=1\n");
		return -EPERM;
	}
	failed = find_functions();
	if (failed) {
		pr_err("densefs: cannot be loaded: this kernel lacks what it needs\n");
		return failed;
	}
	failed = check_door() ?: make_file_system();
	if (failed)
		return failed;
	failed = densefs_watch();
	if (failed) {
		densefs_stop_watching();
		vfree(densefs.memory);
		return failed;
	}
	write_door(jump);
	pr_notice("densefs: for lab guests only: system calls %d to %zu go to a file system of "
		  "%zu bytes in memory\n", DENSEFS_FIRST_CALL,
		  DENSEFS_FIRST_CALL + ARRAY_SIZE(calls) - 1, densefs.arena_bytes);
	return 0;
}

static void __exit densefs_exit(void)
{
	write_door(before);
	/* Who has come through the door, but is not counted yet, does not sleep. */
	synchronize_rcu_tasks();
	while (atomic_read(&densefs.inside))
		msleep(1);
	densefs_stop_watching();
	/* Who is not counted any more does not sleep either. */
	synchronize_rcu_tasks();
	densefs_forget_processes();
	vfree(densefs.memory);
	pr_notice("densefs: unloaded; the kernel answers its calls again\n");
}

module_init(densefs_init);
module_exit(densefs_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("DenseFS, a compact file system, for lab guests only");
