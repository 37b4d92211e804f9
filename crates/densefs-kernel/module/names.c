// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Calls with paths. Each is as the ordinary call without "dfs_"; arguments are the same. */
#include "calls.h"
#include "paths.h"

long densefs_copy_long_path(struct copied_path *copied, const char __user *from)
{
	char *allocated = kmalloc(PATH_MAX, GFP_KERNEL);
	long length;

	if (!allocated)
		return -ENOMEM;
	length = strncpy_from_user(allocated, from, PATH_MAX);
	if (length < 0 || length == PATH_MAX) {
		kfree(allocated);
		return length < 0 ? length : -ENAMETOOLONG;
	}
	copied->allocated = allocated;
	copied->path.start = allocated;
	copied->path.length = length;
	return 0;
}

static __always_inline long open_at(int base, unsigned long from, int flags, unsigned int mode)
{
	mode &= ~umask();
	return with_path(base, POINTER(from), densefs_open(process, path, flags, mode));
}

often long dfs_open(const struct pt_regs *registers)
{
	return open_at(AT_FDCWD, FIRST(registers), SECOND(registers), THIRD(registers));
}

long dfs_openat(const struct pt_regs *registers)
{
	return open_at(FIRST(registers), SECOND(registers), THIRD(registers), FOURTH(registers));
}

often long dfs_creat(const struct pt_regs *registers)
{
	return open_at(AT_FDCWD, FIRST(registers), O_CREAT | O_WRONLY | O_TRUNC,
		       SECOND(registers));
}

static __always_inline long make_at(int base, unsigned long from, unsigned int mode,
				    unsigned int device)
{
	mode &= ~umask();
	return with_path(base, POINTER(from), densefs_mknod(process, path, mode, device));
}

static unsigned int directory_mode(unsigned int mode)
{
	return (mode & (S_IRWXUGO | S_ISVTX)) | S_IFDIR;
}

often long dfs_mkdir(const struct pt_regs *registers)
{
	return make_at(AT_FDCWD, FIRST(registers), directory_mode(SECOND(registers)), 0);
}

long dfs_mkdirat(const struct pt_regs *registers)
{
	return make_at(FIRST(registers), SECOND(registers), directory_mode(THIRD(registers)), 0);
}

static long make_node_at(int base, unsigned long from, unsigned int mode, unsigned int device)
{
	switch (mode & S_IFMT) {
	case 0:
	case S_IFREG:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		return make_at(base, from, mode, device);
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

long dfs_mknod(const struct pt_regs *registers)
{
	return make_node_at(AT_FDCWD, FIRST(registers), SECOND(registers), THIRD(registers));
}

long dfs_mknodat(const struct pt_regs *registers)
{
	return make_node_at(FIRST(registers), SECOND(registers), THIRD(registers),
			    FOURTH(registers));
}

often long dfs_unlink(const struct pt_regs *registers)
{
	return with_path(AT_FDCWD, POINTER(FIRST(registers)), densefs_unlink(process, path));
}

long dfs_rmdir(const struct pt_regs *registers)
{
	return with_path(AT_FDCWD, POINTER(FIRST(registers)), densefs_rmdir(process, path));
}

long dfs_unlinkat(const struct pt_regs *registers)
{
	int base = FIRST(registers);

	switch (THIRD(registers)) {
	case 0:
		return with_path(base, POINTER(SECOND(registers)), densefs_unlink(process, path));
	case AT_REMOVEDIR:
		return with_path(base, POINTER(SECOND(registers)), densefs_rmdir(process, path));
	default:
		return -EINVAL;
	}
}

static __always_inline long rename_at(int old_base, unsigned long old, int new_base,
				      unsigned long new, unsigned int flags)
{
	struct copied_path to;
	long answer = copy_path(&to, new_base, POINTER(new));

	if (answer)
		return answer;
	answer = with_path(old_base, POINTER(old), densefs_rename(process, path, &to.path, flags));
	drop_path(&to);
	return answer;
}

often long dfs_rename(const struct pt_regs *registers)
{
	return rename_at(AT_FDCWD, FIRST(registers), AT_FDCWD, SECOND(registers), 0);
}

long dfs_renameat(const struct pt_regs *registers)
{
	return rename_at(FIRST(registers), SECOND(registers), THIRD(registers), FOURTH(registers),
			 0);
}

long dfs_renameat2(const struct pt_regs *registers)
{
	return rename_at(FIRST(registers), SECOND(registers), THIRD(registers), FOURTH(registers),
			 FIFTH(registers));
}

static long link_at(int old_base, unsigned long old, int new_base, unsigned long new, int flags)
{
	bool follows = flags & AT_SYMLINK_FOLLOW;
	struct copied_path to;
	long answer, is_empty = 0;

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	/* Anybody could otherwise name what is only known by its descriptor. */
	if (flags & AT_EMPTY_PATH && !capable(CAP_DAC_READ_SEARCH))
		return -ENOENT;
	if (flags & AT_EMPTY_PATH)
		is_empty = is_empty_path(old);
	if (is_empty < 0)
		return is_empty;
	answer = copy_path(&to, new_base, POINTER(new));
	if (answer)
		return answer;
	if (is_empty)
		answer = with_core(densefs_link_base(process, old_base, &to.path));
	else
		answer = with_path(old_base, POINTER(old),
				   densefs_link(process, path, &to.path, follows));
	drop_path(&to);
	return answer;
}

long dfs_link(const struct pt_regs *registers)
{
	return link_at(AT_FDCWD, FIRST(registers), AT_FDCWD, SECOND(registers), 0);
}

long dfs_linkat(const struct pt_regs *registers)
{
	return link_at(FIRST(registers), SECOND(registers), THIRD(registers), FOURTH(registers),
		       FIFTH(registers));
}

static long symlink_at(unsigned long target, int base, unsigned long from)
{
	struct copied_path to;
	long answer = copy_path(&to, base, POINTER(target));

	if (answer)
		return answer;
	if (!to.path.length)
		return -ENOENT;
	answer = with_path(base, POINTER(from),
			   densefs_symlink(process, to.path.start, to.path.length, path));
	drop_path(&to);
	return answer;
}

long dfs_symlink(const struct pt_regs *registers)
{
	return symlink_at(FIRST(registers), AT_FDCWD, SECOND(registers));
}

long dfs_symlinkat(const struct pt_regs *registers)
{
	return symlink_at(FIRST(registers), SECOND(registers), THIRD(registers));
}

static long readlink_at(int base, unsigned long from, unsigned long into, int length)
{
	long answer;
	char *target;

	if (length <= 0)
		return -EINVAL;
	length = min(length, PATH_MAX);
	target = kmalloc(length, GFP_KERNEL);
	if (!target)
		return -ENOMEM;
	answer = with_path(base, POINTER(from), densefs_readlink(process, path, target, length));
	if (answer > 0 && copy_to_user(POINTER(into), target, answer))
		answer = -EFAULT;
	kfree(target);
	return answer;
}

long dfs_readlink(const struct pt_regs *registers)
{
	return readlink_at(AT_FDCWD, FIRST(registers), SECOND(registers), THIRD(registers));
}

long dfs_readlinkat(const struct pt_regs *registers)
{
	return readlink_at(FIRST(registers), SECOND(registers), THIRD(registers),
			   FOURTH(registers));
}

long dfs_chdir(const struct pt_regs *registers)
{
	return with_path(AT_FDCWD, POINTER(FIRST(registers)), densefs_chdir(process, path));
}

long dfs_fchdir(const struct pt_regs *registers)
{
	return with_core(densefs_fchdir(process, FIRST(registers)));
}

long dfs_getcwd(const struct pt_regs *registers)
{
	size_t room = min_t(size_t, SECOND(registers), PATH_MAX);
	long answer;
	char *path;

	if (!room)
		return -ERANGE;
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	path[room - 1] = 0;
	answer = with_core(densefs_getcwd(process, path, room - 1));
	if (answer >= 0) {
		answer++;
		if (copy_to_user(POINTER(FIRST(registers)), path + room - answer, answer))
			answer = -EFAULT;
	}
	kfree(path);
	return answer;
}

long dfs_truncate(const struct pt_regs *registers)
{
	return with_path(AT_FDCWD, POINTER(FIRST(registers)),
			 densefs_truncate(process, path, SECOND(registers)));
}
