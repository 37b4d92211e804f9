// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Calls with descriptors. Bytes of files go through a buffer of the kernel: the core is never
 * entered with a fault possible. */
#include <linux/mm.h>

#include "calls.h"
#include "paths.h"

/* Bytes that are moved with the file system locked. */
#define PIECE_BYTES 65536UL

often long dfs_close(const struct pt_regs *registers)
{
	return with_core(densefs_close(process, FIRST(registers)));
}

/* Where a read or a write is to be: at this offset, or at the descriptor's own if it is NOWHERE. */
#define NOWHERE (-1LL)

static long read_piece(u32 descriptor, void *piece, size_t length, s64 offset)
{
	if (offset == NOWHERE)
		return with_core(densefs_read(process, descriptor, piece, length));
	return with_core(densefs_pread(process, descriptor, piece, length, offset));
}

static long write_piece(u32 descriptor, const void *piece, size_t length, s64 offset)
{
	if (offset == NOWHERE)
		return with_core(densefs_write(process, descriptor, piece, length));
	return with_core(densefs_pwrite(process, descriptor, piece, length, offset));
}

/* Reads a piece to the program's memory. What it cannot take has not been read. */
static long read_out(u32 descriptor, char __user *into, char *piece, size_t length, s64 offset)
{
	long read = read_piece(descriptor, piece, length, offset);
	long left;

	if (read <= 0)
		return read;
	left = copy_to_user(into, piece, read);
	if (unlikely(left) && offset == NOWHERE)
		with_core(densefs_lseek(process, descriptor, -left, SEEK_CUR));
	return read > left ? read - left : -EFAULT;
}

/* Writes a piece from the program's memory, as far as that can be read. */
static long write_in(u32 descriptor, const char __user *from, char *piece, size_t length,
		     s64 offset)
{
	size_t left = copy_from_user(piece, from, length);

	if (left == length && length)
		return -EFAULT;
	return write_piece(descriptor, piece, length - left, offset);
}

/* Reads or writes piece after piece, until one is not whole. */
static long move_bytes(u32 descriptor, char __user *at, size_t length, s64 offset, bool writes)
{
	size_t done = 0;
	long moved;
	char *piece;

	if ((ssize_t)length < 0 || offset < NOWHERE)
		return -EINVAL;
	length = min_t(size_t, length, MAX_RW_COUNT);
	piece = kvmalloc(clamp(length, 1UL, PIECE_BYTES), GFP_KERNEL);
	if (!piece)
		return -ENOMEM;
	do {
		size_t wanted = min(length - done, PIECE_BYTES);

		moved = writes ? write_in(descriptor, at + done, piece, wanted, offset) :
				 read_out(descriptor, at + done, piece, wanted, offset);
		if (moved <= 0)
			break;
		done += moved;
		if (offset != NOWHERE)
			offset += moved;
		if (moved < wanted)
			break;
	} while (done < length && !fatal_signal_pending(current));
	kvfree(piece);
	return done ? done : moved;
}

long dfs_read(const struct pt_regs *registers)
{
	return move_bytes(FIRST(registers), POINTER(SECOND(registers)), THIRD(registers), NOWHERE,
			  false);
}

long dfs_write(const struct pt_regs *registers)
{
	return move_bytes(FIRST(registers), POINTER(SECOND(registers)), THIRD(registers), NOWHERE,
			  true);
}

often long dfs_pread64(const struct pt_regs *registers)
{
	s64 offset = FOURTH(registers);

	if (offset < 0)
		return -EINVAL;
	return move_bytes(FIRST(registers), POINTER(SECOND(registers)), THIRD(registers), offset,
			  false);
}

often long dfs_pwrite64(const struct pt_regs *registers)
{
	s64 offset = FOURTH(registers);

	if (offset < 0)
		return -EINVAL;
	return move_bytes(FIRST(registers), POINTER(SECOND(registers)), THIRD(registers), offset,
			  true);
}

long dfs_lseek(const struct pt_regs *registers)
{
	return with_core(densefs_lseek(process, FIRST(registers), SECOND(registers),
				       THIRD(registers)));
}

long dfs_getdents64(const struct pt_regs *registers)
{
	u32 descriptor = FIRST(registers);
	size_t length = min_t(size_t, (u32)THIRD(registers), PIECE_BYTES);
	char *entries = kvmalloc(max(length, (size_t)1), GFP_KERNEL);
	long answer;

	if (!entries)
		return -ENOMEM;
	answer = with_core(densefs_getdents(process, descriptor, entries, length));
	if (answer > 0 && copy_to_user(POINTER(SECOND(registers)), entries, answer))
		answer = -EFAULT;
	kvfree(entries);
	return answer;
}

long dfs_ftruncate(const struct pt_regs *registers)
{
	return with_core(densefs_ftruncate(process, FIRST(registers), SECOND(registers)));
}

long dfs_fallocate(const struct pt_regs *registers)
{
	return with_core(densefs_fallocate(process, FIRST(registers), SECOND(registers),
					   THIRD(registers), FOURTH(registers)));
}

long dfs_fsync(const struct pt_regs *registers)
{
	return with_core(densefs_fsync(process, FIRST(registers)));
}

long dfs_fdatasync(const struct pt_regs *registers)
{
	return dfs_fsync(registers);
}

long dfs_sync(const struct pt_regs *registers)
{
	return 0;
}

long dfs_dup(const struct pt_regs *registers)
{
	return with_core(densefs_dup(process, FIRST(registers), 0, 0));
}

static long dup_to(u32 from, u32 to, u32 flags)
{
	return with_core(densefs_dup_to(process, from, to, flags));
}

long dfs_dup2(const struct pt_regs *registers)
{
	u32 from = FIRST(registers), to = SECOND(registers);

	/* If both are the same, it only has to be open. */
	if (from == to)
		return with_core(densefs_flags(process, from) < 0 ? -EBADF : (long)to);
	return dup_to(from, to, 0);
}

long dfs_dup3(const struct pt_regs *registers)
{
	u32 from = FIRST(registers), to = SECOND(registers), flags = THIRD(registers);

	if (from == to || flags & ~O_CLOEXEC)
		return -EINVAL;
	return dup_to(from, to, flags);
}

long dfs_fcntl(const struct pt_regs *registers)
{
	u32 descriptor = FIRST(registers), argument = THIRD(registers);

	switch (SECOND(registers)) {
	case F_DUPFD:
		return with_core(densefs_dup(process, descriptor, argument, 0));
	case F_DUPFD_CLOEXEC:
		return with_core(densefs_dup(process, descriptor, argument, O_CLOEXEC));
	case F_GETFD:
		return with_core(densefs_closes_on_exec(process, descriptor));
	case F_SETFD:
		return with_core(densefs_set_closes_on_exec(process, descriptor,
							    argument & FD_CLOEXEC));
	case F_GETFL:
		return with_core(densefs_flags(process, descriptor));
	case F_SETFL:
		return with_core(densefs_set_flags(process, descriptor, argument));
	default:
		return -EINVAL;
	}
}
