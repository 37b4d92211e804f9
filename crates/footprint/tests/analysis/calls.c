/* Calls of many kinds, for comparing shadow stacks with a debugger's backtraces. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

static jmp_buf out;
static unsigned state = 1;
static volatile unsigned sink;

APART static unsigned draw(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

APART static unsigned leaf(unsigned n)
{
	sink += n;
	return n ^ sink;
}

/* A tail call. */
APART static unsigned tail(unsigned n)
{
	sink++;
	return leaf(n + 1);
}

APART static unsigned deep(unsigned n)
{
	return n == 0 ? tail(draw()) : deep(n - 1) + leaf(n);
}

APART static unsigned odd(unsigned n);

APART static unsigned even(unsigned n)
{
	return n == 0 ? leaf(1) : odd(n - 1);
}

APART static unsigned odd(unsigned n)
{
	return n == 0 ? leaf(0) : even(n - 1) + 1;
}

APART static void escape(unsigned n)
{
	if (n == 0)
		longjmp(out, 1);
	escape(n - 1);
	sink++;
}

APART static int compare(const void *a, const void *b)
{
	unsigned one = *(const unsigned *)a, other = *(const unsigned *)b;
	return one < other ? -1 : leaf(one) == 0 ? 0 : one > other;
}

typedef unsigned (*function)(unsigned);
static function volatile table[] = { leaf, tail, deep, even, odd };

int main(void)
{
	static unsigned numbers[64];
	char text[256];
	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < 64; i++)
			numbers[i] = draw();
		qsort(numbers, 64, sizeof *numbers, compare);
		for (unsigned i = 0; i < 20; i++)
			sink += table[draw() % 5](draw() % 12);
		if (setjmp(out) == 0)
			escape(draw() % 9);
		char *copy = malloc(1 + draw() % 300);
		snprintf(text, sizeof text, "%u of %x, %s", round, sink, copy ? "yes" : "no");
		copy[0] = (char)strlen(text);
		sink += (unsigned char)copy[0];
		free(copy);
	}
	return 0;
}
