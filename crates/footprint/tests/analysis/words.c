/* A program that spends its time in the C library: texts made, copied, sorted, searched, printed.
 * Routines for texts look out for ends of pages, so the texts lie at the same places of pages
 * wherever a heap begins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 4096

static char texts[WORDS][32] __attribute__((aligned(4096)));

static int by_text(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

int main(void)
{
	static char *words[WORDS];
	char *copies[WORDS / 64];
	unsigned state = 1;
	size_t sum = 0;
	for (int i = 0; i < WORDS; i++) {
		state = state * 1664525u + 1013904223u;
		snprintf(texts[i], sizeof texts[i], "word-%08x-%d", state, i);
		words[i] = texts[i];
	}
	qsort(words, WORDS, sizeof *words, by_text);
	for (int i = 0; i < WORDS; i++) {
		sum += strlen(words[i]) + (strstr(words[i], "ff") != NULL);
		if (i % 64 == 0) {
			copies[i / 64] = strdup(words[i]);
			printf("%s %zu\n", words[i], sum);
		}
	}
	for (int i = 0; i < WORDS / 64; i++)
		free(copies[i]);
	return 0;
}
