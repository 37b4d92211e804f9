/* Bonnie's random seeks, as plainly as they can be written: processes that draw tickets from one
 * pipe, read the block that a ticket names, and write every tenth one back.
 *
 * seekers FILE FILE_BYTES CHUNK_BYTES SEEKS PROCESSES
 *
 * Prints seeks per second, from the first process's start to the last one's end. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64, UPDATE_EVERY = 10 };

static const uint64_t END = UINT64_MAX;

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

static uint64_t next(int tickets)
{
	uint64_t ticket;
	if (read(tickets, &ticket, sizeof ticket) != sizeof ticket)
		fail("read of a ticket");
	return ticket;
}

static void seek(const char *path, long chunk, int tickets, double *times)
{
	char *buffer = aligned_alloc(4096, chunk);
	int file = open(path, O_RDWR);
	if (file < 0 || !buffer)
		fail(path);
	uint64_t ticket = next(tickets);
	times[0] = now();
	for (; ticket != END; ticket = next(tickets)) {
		off_t at = (ticket >> 1) * chunk;
		if (lseek(file, at, SEEK_SET) < 0 || read(file, buffer, chunk) != chunk)
			fail("read");
		if (!(ticket & 1))
			continue;
		buffer[(ticket >> 1) % chunk]--;
		if (lseek(file, at, SEEK_SET) < 0 || write(file, buffer, chunk) != chunk)
			fail("write");
	}
	close(file);
	times[1] = now();
	exit(0);
}

int main(int count, char **arguments)
{
	if (count != 6)
		return 2;
	const char *path = arguments[1];
	long bytes = atol(arguments[2]), chunk = atol(arguments[3]);
	long seeks = atol(arguments[4]), processes = atol(arguments[5]);
	int ends[2];
	double *times = mmap(NULL, 2 * PROCESSES_MAX * sizeof *times, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *buffer = calloc(1, chunk);
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || processes > PROCESSES_MAX || times == MAP_FAILED || pipe(ends) || !buffer)
		fail(path);
	for (long block = 0; block < bytes / chunk; block++)
		if (write(file, buffer, chunk) != chunk)
			fail("write");
	close(file);
	srandom(getpid());
	for (long process = 0; process < processes; process++) {
		pid_t child = fork();
		if (child < 0)
			fail("fork");
		if (child == 0)
			seek(path, chunk, ends[0], times + 2 * process);
	}
	uint64_t *tickets = malloc((seeks + processes) * sizeof *tickets);
	for (long number = 0; number < seeks + processes; number++) {
		uint64_t block = random() % (bytes / chunk);
		tickets[number] = number < seeks ? block << 1 | (number % UPDATE_EVERY == 0) : END;
	}
	/* All of them wait by now. */
	usleep(20000);
	for (long sent = 0, all = (seeks + processes) * sizeof *tickets; sent < all;) {
		ssize_t written = write(ends[1], (char *)tickets + sent, all - sent);
		if (written < 0)
			fail("write of tickets");
		sent += written;
	}
	int status, is_failed = 0;
	while (wait(&status) > 0)
		is_failed |= status;
	double begin = times[0], end = times[1];
	for (long process = 1; process < processes; process++) {
		begin = times[2 * process] < begin ? times[2 * process] : begin;
		end = times[2 * process + 1] > end ? times[2 * process + 1] : end;
	}
	printf("%.6f\n", seeks / (end - begin));
	unlink(path);
	return is_failed != 0;
}
