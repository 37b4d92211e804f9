// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Calls that read and change attributes. */
#include <linux/statfs.h>
#include <linux/time.h>

#include "calls.h"
#include "paths.h"

static __always_inline long answer_stat(long answer, const struct stat *found, unsigned long into)
{
	if (likely(!answer) && unlikely(copy_to_user(POINTER(into), found, sizeof(*found))))
		return -EFAULT;
	return answer;
}

static __always_inline long stat_at(int base, unsigned long from, unsigned long into, bool follows)
{
	struct stat found;
	long answer = with_path(base, POINTER(from),
				densefs_stat(process, path, follows, &found));

	return answer_stat(answer, &found, into);
}

often long dfs_stat(const struct pt_regs *registers)
{
	return stat_at(AT_FDCWD, FIRST(registers), SECOND(registers), true);
}

long dfs_lstat(const struct pt_regs *registers)
{
	return stat_at(AT_FDCWD, FIRST(registers), SECOND(registers), false);
}

/* What a descriptor refers to, or the working directory. */
static __always_inline long stat_base(int base, unsigned long into)
{
	struct stat found;
	long answer = with_core(densefs_fstat(process, base, &found));

	return answer_stat(answer, &found, into);
}

long dfs_fstat(const struct pt_regs *registers)
{
	int descriptor = FIRST(registers);

	return descriptor < 0 ? -EBADF : stat_base(descriptor, SECOND(registers));
}

often long dfs_newfstatat(const struct pt_regs *registers)
{
	unsigned int flags = FOURTH(registers);

	if (unlikely(flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT)))
		return -EINVAL;
	if (unlikely(flags & AT_EMPTY_PATH)) {
		long is_empty = is_empty_path(SECOND(registers));

		if (is_empty < 0)
			return is_empty;
		if (is_empty)
			return stat_base(FIRST(registers), THIRD(registers));
	}
	return stat_at(FIRST(registers), SECOND(registers), THIRD(registers),
		       !(flags & AT_SYMLINK_NOFOLLOW));
}

static long chmod_at(int base, unsigned long from, unsigned int mode)
{
	return with_path(base, POINTER(from), densefs_chmod(process, path, mode));
}

long dfs_chmod(const struct pt_regs *registers)
{
	return chmod_at(AT_FDCWD, FIRST(registers), SECOND(registers));
}

long dfs_fchmodat(const struct pt_regs *registers)
{
	return chmod_at(FIRST(registers), SECOND(registers), THIRD(registers));
}

long dfs_fchmod(const struct pt_regs *registers)
{
	return with_core(densefs_fchmod(process, FIRST(registers), SECOND(registers)));
}

static long chown_at(int base, unsigned long from, unsigned int uid, unsigned int gid,
		     bool follows)
{
	return with_path(base, POINTER(from), densefs_chown(process, path, uid, gid, follows));
}

long dfs_chown(const struct pt_regs *registers)
{
	return chown_at(AT_FDCWD, FIRST(registers), SECOND(registers), THIRD(registers), true);
}

long dfs_lchown(const struct pt_regs *registers)
{
	return chown_at(AT_FDCWD, FIRST(registers), SECOND(registers), THIRD(registers), false);
}

long dfs_fchownat(const struct pt_regs *registers)
{
	if (FIFTH(registers) & ~AT_SYMLINK_NOFOLLOW)
		return -EINVAL;
	return chown_at(FIRST(registers), SECOND(registers), THIRD(registers), FOURTH(registers),
			!(FIFTH(registers) & AT_SYMLINK_NOFOLLOW));
}

long dfs_fchown(const struct pt_regs *registers)
{
	return with_core(densefs_fchown(process, FIRST(registers), SECOND(registers),
					THIRD(registers)));
}

long dfs_utimensat(const struct pt_regs *registers)
{
	const struct __kernel_timespec __user *from = POINTER(THIRD(registers));
	int base = FIRST(registers), flags = FOURTH(registers);
	bool follows = !(flags & AT_SYMLINK_NOFOLLOW);
	struct timespec64 both[2], *times = from ? both : NULL;

	if (from && (get_timespec64(&both[0], from) || get_timespec64(&both[1], from + 1)))
		return -EFAULT;
	if (from && both[0].tv_nsec == UTIME_OMIT && both[1].tv_nsec == UTIME_OMIT)
		return 0;
	if (flags & ~AT_SYMLINK_NOFOLLOW)
		return -EINVAL;
	if (!SECOND(registers))
		return with_core(densefs_futimens(process, base, times));
	return with_path(base, POINTER(SECOND(registers)),
			 densefs_utimens(process, path, times, follows));
}

static long access_at(int base, unsigned long from, unsigned int wanted)
{
	const struct cred *cred = current_cred();
	u32 uid = __kuid_val(cred->uid), gid = __kgid_val(cred->gid);

	if (wanted & ~7)
		return -EINVAL;
	return with_path(base, POINTER(from), densefs_access(process, path, wanted, uid, gid));
}

long dfs_access(const struct pt_regs *registers)
{
	return access_at(AT_FDCWD, FIRST(registers), SECOND(registers));
}

long dfs_faccessat(const struct pt_regs *registers)
{
	return access_at(FIRST(registers), SECOND(registers), THIRD(registers));
}

static long answer_statfs(long answer, u64 all, u64 free, unsigned long into)
{
	struct statfs found = {
		.f_type = DENSEFS_MAGIC,
		.f_bsize = PAGE_SIZE,
		.f_frsize = PAGE_SIZE,
		.f_blocks = all,
		.f_bfree = free,
		.f_bavail = free,
		.f_namelen = NAME_MAX,
	};

	if (!answer && copy_to_user(POINTER(into), &found, sizeof(found)))
		return -EFAULT;
	return answer;
}

long dfs_statfs(const struct pt_regs *registers)
{
	struct stat unused;
	u64 all = 0, free = 0;
	long answer = with_path(AT_FDCWD, POINTER(FIRST(registers)),
				densefs_stat(process, path, true, &unused) ?:
					densefs_pages(process, &all, &free));

	return answer_statfs(answer, all, free, SECOND(registers));
}

long dfs_fstatfs(const struct pt_regs *registers)
{
	struct stat unused;
	u64 all = 0, free = 0;
	long answer = with_core(densefs_fstat(process, FIRST(registers), &unused) ?:
					densefs_pages(process, &all, &free));

	return answer_statfs(answer, all, free, SECOND(registers));
}
