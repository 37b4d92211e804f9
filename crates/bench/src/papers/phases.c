/* The large-file benchmark of Sprite LFS, as plainly as it can be written: a sequential write and
 * read, a random write to new files and a random read of those, with blocks of 4 KiB.
 *
 * phases DIRECTORY FILE_BYTES FILES ALIGNED PADDED READS
 *
 * With more than one file, the first is left out. Sequential reads are repeated READS times. Prints
 * a rate in MB/s for each: the write, each read, the random write, the random read. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, FILES_MAX = 16, BLOCKS_MAX = 256 };

static char buffer[BLOCK] __attribute__((aligned(4096)));
static int old_files[FILES_MAX], new_files[FILES_MAX];
static long file_bytes, files, is_aligned, is_padded;
static uint64_t state = 88172645463325252u;
static volatile uint64_t unused;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static double pass(int file, int writes, int is_random)
{
	long blocks = file_bytes / BLOCK;
	static long order[BLOCKS_MAX];

	for (long i = 0; i < blocks; i++)
		order[i] = i;
	for (long i = blocks - 1; i > 0; i--) {
		long other = draw() % (i + 1), one = order[i];
		order[i] = order[other];
		order[other] = one;
	}
	if (lseek(file, 0, SEEK_SET) < 0)
		fail("lseek");
	double begin = now();
	for (long i = 0; i < blocks; i++) {
		if (is_random) {
			uint64_t drawn = draw();
			long at = order[i] * BLOCK;
			/* Not beyond the end. */
			if (!is_aligned && order[i] + 1 < blocks)
				at += drawn % BLOCK;
			if (lseek(file, at, SEEK_SET) < 0)
				fail("lseek");
		} else if (is_padded) {
			unused = draw();
			if (lseek(file, 0, SEEK_CUR) < 0)
				fail("lseek");
		}
		long did = writes ? write(file, buffer, BLOCK) : read(file, buffer, BLOCK);
		if (did != BLOCK)
			fail(writes ? "write" : "read");
	}
	if (writes && fsync(file))
		fail("fsync");
	return now() - begin;
}

static void phase(const int *of, int writes, int is_random)
{
	double seconds = 0;
	long first = files > 1;

	for (long i = 0; i < files; i++) {
		double took = pass(of[i], writes, is_random);
		if (i >= first)
			seconds += took;
	}
	printf("%f\n", (files - first) * file_bytes / 1048576.0 / seconds);
}

int main(int count, char **arguments)
{
	char path[4096];

	if (count != 7)
		return 2;
	file_bytes = atol(arguments[2]);
	files = atol(arguments[3]);
	is_aligned = atol(arguments[4]);
	is_padded = atol(arguments[5]);
	if (files > FILES_MAX || file_bytes / BLOCK > BLOCKS_MAX)
		return 2;
	for (long i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "%s/old-%ld", arguments[1], i);
		old_files[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		snprintf(path, sizeof(path), "%s/new-%ld", arguments[1], i);
		new_files[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (old_files[i] < 0 || new_files[i] < 0)
			fail(path);
	}
	phase(old_files, 1, 0);
	for (long i = 0; i < atol(arguments[6]); i++)
		phase(old_files, 0, 0);
	phase(new_files, 1, 1);
	phase(new_files, 0, 1);
	return 0;
}
