/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Paths of programs, copied, and calls of the core with them. */
#ifndef DENSEFS_PATHS_H
#define DENSEFS_PATHS_H

#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/fs_struct.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "densefs.h"

/* A path of fewer bytes is copied to the stack. */
#define PATH_INSIDE 128

struct copied_path {
	struct densefs_path path;
	/* Memory for a longer one. */
	char *allocated;
	char inside[PATH_INSIDE];
};

long densefs_copy_long_path(struct copied_path *copied, const char __user *from);

/* Copies a path; 0 or an error number. */
static inline long copy_path(struct copied_path *copied, int base, const char __user *from)
{
	long length = strncpy_from_user(copied->inside, from, PATH_INSIDE);

	if (unlikely(length < 0))
		return length;
	copied->path.base = base;
	copied->path.start = copied->inside;
	copied->path.length = length;
	copied->allocated = NULL;
	if (unlikely(length == PATH_INSIDE))
		return densefs_copy_long_path(copied, from);
	return 0;
}

static inline void drop_path(struct copied_path *copied)
{
	if (unlikely(copied->allocated))
		kfree(copied->allocated);
}

/* Evaluates a call of the core, in which `process` is this process. */
#define with_core(call)                                                                     \
	({                                                                                  \
		struct densefs_process *process = densefs_enter();                          \
		long done = IS_ERR(process) ? PTR_ERR(process) : (call);                     \
		densefs_unlock();                                                           \
		done;                                                                       \
	})

/* The same, where `path` is that path of the program, relative to a descriptor. */
#define with_path(base, from, call)                                                         \
	({                                                                                  \
		struct copied_path copied;                                                  \
		long answer = copy_path(&copied, base, from);                               \
		if (likely(!answer)) {                                                      \
			const struct densefs_path *path = &copied.path;                     \
			answer = with_core(call);                                           \
			drop_path(&copied);                                                 \
		}                                                                           \
		answer;                                                                     \
	})

/* Arguments of a call as a program passes them. */
#define FIRST(registers) ((registers)->di)
#define SECOND(registers) ((registers)->si)
#define THIRD(registers) ((registers)->dx)
#define FOURTH(registers) ((registers)->r10)
#define FIFTH(registers) ((registers)->r8)

/* An argument that is an address. */
#define POINTER(argument) ((void __user *)(argument))

#endif
