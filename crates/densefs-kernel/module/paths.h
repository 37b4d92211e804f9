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

/* Copies a path; 0 or an error number. A short one is copied here, byte by byte: that takes fewer
 * cache lines than strncpy_from_user, which is made for long ones. */
static __always_inline long copy_path(struct copied_path *copied, int base, const char __user *from)
{
	size_t length;

	copied->path.base = base;
	copied->path.start = copied->inside;
	copied->allocated = NULL;
	if (unlikely(!user_read_access_begin(from, PATH_INSIDE)))
		return densefs_copy_long_path(copied, from);
	for (length = 0; length < PATH_INSIDE; length++) {
		char byte;

		unsafe_get_user(byte, from + length, fault);
		if (!byte)
			break;
		copied->inside[length] = byte;
	}
	user_read_access_end();
	copied->path.length = length;
	if (unlikely(length == PATH_INSIDE))
		return densefs_copy_long_path(copied, from);
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

/* Whether a path is empty, where that stands for the descriptor itself; or an error number. */
static inline long is_empty_path(unsigned long from)
{
	char first;

	return get_user(first, (const char __user *)from) ? -EFAULT : !first;
}

/* Permissions that new files do not get. */
static inline unsigned int umask(void)
{
	return current->fs->umask;
}

static __always_inline void drop_path(struct copied_path *copied)
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
