/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The core of DenseFS, in Rust, as the module calls it: crates/densefs-kernel/src says what each
 * function does. All but the first are called with the file system locked, and never sleep. */
#ifndef DENSEFS_CORE_H
#define DENSEFS_CORE_H

#include <linux/stat.h>
#include <linux/time64.h>
#include <linux/types.h>

struct densefs_process;

/* A path in kernel memory, and the descriptor of the directory in which it starts if it is
 * relative, or AT_FDCWD. */
struct densefs_path {
	const char *start;
	size_t length;
	int base;
};

size_t densefs_process_bytes(void);
long densefs_mount(void *memory, size_t bytes, u64 secret, u64 ino_secret, u32 processes);

long densefs_begin(struct densefs_process *process, u32 number, void *memory, size_t bytes);
long densefs_fork(struct densefs_process *parent, u32 number);
long densefs_exec(struct densefs_process *process);
long densefs_end(struct densefs_process *process, u32 number);
void densefs_identify(struct densefs_process *process, u32 uid, u32 gid, const u32 *groups,
		      size_t count);

long densefs_open(struct densefs_process *process, const struct densefs_path *path, u32 flags,
		  u32 mode);
long densefs_close(struct densefs_process *process, u32 descriptor);
long densefs_dup(struct densefs_process *process, u32 descriptor, u32 lowest, u32 flags);
long densefs_dup_to(struct densefs_process *process, u32 descriptor, u32 to, u32 flags);
long densefs_closes_on_exec(struct densefs_process *process, u32 descriptor);
long densefs_set_closes_on_exec(struct densefs_process *process, u32 descriptor, bool closes);
long densefs_flags(struct densefs_process *process, u32 descriptor);
long densefs_set_flags(struct densefs_process *process, u32 descriptor, u32 flags);
long densefs_lseek(struct densefs_process *process, u32 descriptor, s64 by, u32 whence);

long densefs_read(struct densefs_process *process, u32 descriptor, void *into, size_t length);
long densefs_write(struct densefs_process *process, u32 descriptor, const void *from,
		   size_t length);
long densefs_pread(struct densefs_process *process, u32 descriptor, void *into, size_t length,
		   s64 offset);
long densefs_pwrite(struct densefs_process *process, u32 descriptor, const void *from,
		    size_t length, s64 offset);
long densefs_truncate(struct densefs_process *process, const struct densefs_path *path, s64 size);
long densefs_ftruncate(struct densefs_process *process, u32 descriptor, s64 size);
long densefs_fallocate(struct densefs_process *process, u32 descriptor, u32 mode, s64 offset,
		       s64 length);
long densefs_fsync(struct densefs_process *process, u32 descriptor);
long densefs_getdents(struct densefs_process *process, u32 descriptor, void *into, size_t length);

long densefs_stat(struct densefs_process *process, const struct densefs_path *path, bool follows,
		  struct stat *into);
long densefs_fstat(struct densefs_process *process, int base, struct stat *into);
long densefs_chmod(struct densefs_process *process, const struct densefs_path *path, u32 mode);
long densefs_fchmod(struct densefs_process *process, u32 descriptor, u32 mode);
long densefs_chown(struct densefs_process *process, const struct densefs_path *path, u32 uid,
		   u32 gid, bool follows);
long densefs_fchown(struct densefs_process *process, u32 descriptor, u32 uid, u32 gid);
long densefs_utimens(struct densefs_process *process, const struct densefs_path *path,
		     const struct timespec64 *times, bool follows);
long densefs_futimens(struct densefs_process *process, u32 descriptor,
		      const struct timespec64 *times);
long densefs_access(struct densefs_process *process, const struct densefs_path *path, u32 wanted,
		    u32 uid, u32 gid);
long densefs_pages(struct densefs_process *process, u64 *all, u64 *free);

long densefs_mknod(struct densefs_process *process, const struct densefs_path *path, u32 mode,
		   u32 device);
long densefs_unlink(struct densefs_process *process, const struct densefs_path *path);
long densefs_rmdir(struct densefs_process *process, const struct densefs_path *path);
long densefs_rename(struct densefs_process *process, const struct densefs_path *from,
		    const struct densefs_path *to, u32 flags);
long densefs_link(struct densefs_process *process, const struct densefs_path *old,
		  const struct densefs_path *new, bool follows);
long densefs_link_base(struct densefs_process *process, int base, const struct densefs_path *new);
long densefs_symlink(struct densefs_process *process, const char *target, size_t length,
		     const struct densefs_path *path);
long densefs_readlink(struct densefs_process *process, const struct densefs_path *path, void *into,
		      size_t length);
long densefs_chdir(struct densefs_process *process, const struct densefs_path *path);
long densefs_fchdir(struct densefs_process *process, u32 descriptor);
long densefs_getcwd(struct densefs_process *process, char *into, size_t length);

/* What the core calls, besides ktime_get_coarse_real_ts64. */
void __noreturn densefs_bug(void);

#endif
