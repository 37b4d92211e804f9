// Writes a file character by character, and reads it, as a bare program does; prints bytes per
// second of both, of time and of processor time.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double began[2];

static void begin(void)
{
	began[0] = now(CLOCK_MONOTONIC);
	began[1] = now(CLOCK_THREAD_CPUTIME_ID);
}

static void end(long bytes)
{
	double time = now(CLOCK_MONOTONIC) - began[0];
	double processor = now(CLOCK_THREAD_CPUTIME_ID) - began[1];

	printf("%.0f\t%.0f\n", bytes / time, bytes / processor);
}

int main(int count, char **words)
{
	static unsigned long counts[256];
	static int chunk[16384 / sizeof(int)];
	unsigned int word = 0;
	const char *path = words[1];
	long bytes, i;
	FILE *file;
	int c;

	if (count != 3)
		return 2;
	bytes = atol(words[2]);
	remove(path);
	file = fopen(path, "w");
	if (!file)
		return 1;
	begin();
	for (i = 0; i < bytes; i++)
		if (putc_unlocked(i & 0x7f, file) == EOF)
			return 1;
	if (fclose(file))
		return 1;
	end(bytes);
	// Bonnie has written blocks since, each with another word changed. What is in them decides
	// how fast characters are counted: the same ones again, or others.
	file = fopen(path, "w");
	if (!file)
		return 1;
	for (i = 0; i < bytes; i += sizeof(chunk)) {
		chunk[word++ % (sizeof(chunk) / sizeof(chunk[0]))]++;
		if (fwrite(chunk, sizeof(chunk), 1, file) != 1)
			return 1;
	}
	if (fclose(file))
		return 1;
	file = fopen(path, "r");
	if (!file)
		return 1;
	begin();
	for (i = 0; i < bytes; i++) {
		c = getc_unlocked(file);
		if (c == EOF)
			return 1;
		counts[c]++;
	}
	fclose(file);
	end(bytes);
	remove(path);
	return counts[0] == 0;
}
