/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls, in the order of their numbers. */
#ifndef DENSEFS_CALLS_H
#define DENSEFS_CALLS_H

/* The number of the first call; the others follow. Linux does not use numbers from 335 to 423 on
 * x86-64, though newer kernels have begun to, from below. */
#define DENSEFS_FIRST_CALL 340

/* Each has the arguments of the ordinary call without "dfs_". New ones go to the end. */
#define DENSEFS_EACH_CALL(call)     \
	call(dfs_read) \
	call(dfs_write) \
	call(dfs_open) \
	call(dfs_close) \
	call(dfs_stat) \
	call(dfs_fstat) \
	call(dfs_lstat) \
	call(dfs_lseek) \
	call(dfs_pread64) \
	call(dfs_pwrite64) \
	call(dfs_access) \
	call(dfs_dup) \
	call(dfs_dup2) \
	call(dfs_fcntl) \
	call(dfs_fsync) \
	call(dfs_fdatasync) \
	call(dfs_truncate) \
	call(dfs_ftruncate) \
	call(dfs_getcwd) \
	call(dfs_chdir) \
	call(dfs_fchdir) \
	call(dfs_rename) \
	call(dfs_mkdir) \
	call(dfs_rmdir) \
	call(dfs_creat) \
	call(dfs_link) \
	call(dfs_unlink) \
	call(dfs_symlink) \
	call(dfs_readlink) \
	call(dfs_chmod) \
	call(dfs_fchmod) \
	call(dfs_chown) \
	call(dfs_fchown) \
	call(dfs_lchown) \
	call(dfs_mknod) \
	call(dfs_statfs) \
	call(dfs_fstatfs) \
	call(dfs_sync) \
	call(dfs_getdents64) \
	call(dfs_openat) \
	call(dfs_mkdirat) \
	call(dfs_mknodat) \
	call(dfs_fchownat) \
	call(dfs_newfstatat) \
	call(dfs_unlinkat) \
	call(dfs_renameat) \
	call(dfs_linkat) \
	call(dfs_symlinkat) \
	call(dfs_readlinkat) \
	call(dfs_fchmodat) \
	call(dfs_faccessat) \
	call(dfs_utimensat) \
	call(dfs_fallocate) \
	call(dfs_dup3) \
	call(dfs_renameat2)

#ifdef __KERNEL__
#include <linux/ptrace.h>

#define DENSEFS_DECLARE(call) long call(const struct pt_regs *registers);
DENSEFS_EACH_CALL(DENSEFS_DECLARE)
#undef DENSEFS_DECLARE
#endif

/* What statfs(2) says the file system is. */
#define DENSEFS_MAGIC 0x44656e73

#endif
