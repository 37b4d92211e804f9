/* A program without libraries, whose instructions and misses two tools can agree on. */
#define APART __attribute__((noinline, noclone))

static unsigned state = 1;
static unsigned table[1 << 14];
static struct node {
	struct node *next;
	unsigned value[15];
} nodes[1 << 11];

APART static unsigned draw(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

APART static void link_up(void)
{
	unsigned count = sizeof nodes / sizeof *nodes;
	for (unsigned i = 0; i < count; i++)
		nodes[i].next = &nodes[draw() % count];
}

APART static unsigned chase(unsigned steps)
{
	struct node *node = nodes;
	unsigned sum = 0;
	while (steps--) {
		sum += node->value[steps % 15]++;
		node = node->next + (steps & 1);
		if (node == nodes + sizeof nodes / sizeof *nodes)
			node = nodes;
	}
	return sum;
}

APART static void scatter(unsigned times)
{
	while (times--)
		table[draw() % (sizeof table / sizeof *table)] += times;
}

APART static unsigned sum(void)
{
	unsigned all = 0;
	for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
		all += table[i];
	return all;
}

APART static unsigned ladder(unsigned n)
{
	return n < 2 ? n : ladder(n - 1) + ladder(n - 2);
}

void _start(void)
{
	link_up();
	for (unsigned round = 0; round < 4; round++) {
		scatter(20000);
		state += chase(20000) + sum() + ladder(16);
	}
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
	__builtin_unreachable();
}
