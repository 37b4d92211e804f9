/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the parts of the module share. */
#ifndef DENSEFS_H
#define DENSEFS_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cred.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "core.h"

/*
 * A layout in which the functions that calls execute most lie together. The first of them begins a
 * cache line, so that their lines do not depend on how long the code before them is.
 */
#ifdef DENSEFS_ORDERED
#define often __section(".text.often")
#define first_often often __aligned(SMP_CACHE_BYTES)
#else
#define often
#define first_often
#endif

/* A layout of the code without hints at what is hardly ever executed. */
#ifdef DENSEFS_UNHINTED
#undef likely
#undef unlikely
#define likely(condition) (condition)
#define unlikely(condition) (condition)
#endif

/* How many processes may use the file system at the same time. */
#define DENSEFS_PROCESSES 256

/* The file system, and the process that used it last: all that most calls need, in one line. */
struct densefs_state {
	/* 1 while somebody is in the core. Whoever is does not sleep. */
	int lock;
	/* How many threads are in calls, and may sleep there. */
	atomic_t inside;
	struct densefs_process *last;
	const struct task_struct *last_task;
	const struct cred *last_cred;
	/* All memory: the arena, and behind it the processes. */
	char *memory;
	size_t arena_bytes;
	size_t process_bytes;
} ____cacheline_aligned;

extern struct densefs_state densefs;

struct densefs_process *densefs_find_process(void);
void densefs_forget_processes(void);
int densefs_watch(void);
void densefs_stop_watching(void);

static __always_inline void densefs_lock(void)
{
	preempt_disable();
	while (unlikely(cmpxchg_acquire(&densefs.lock, 0, 1)))
		cpu_relax();
}

static __always_inline void densefs_unlock(void)
{
	smp_store_release(&densefs.lock, 0);
	preempt_enable();
}

/* Locks the file system for this process, which is an error number if it cannot use it. */
static __always_inline struct densefs_process *densefs_enter(void)
{
	densefs_lock();
	if (likely(densefs.last_task == current && densefs.last_cred == current_cred()))
		return densefs.last;
	return densefs_find_process();
}

#endif
