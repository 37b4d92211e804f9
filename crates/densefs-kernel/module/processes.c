// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The processes that use DenseFS: each has a table of descriptors and a working directory of its
 * own. One begins with its first call, or when its parent forks, and ends when it does. */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/tracepoint.h>

#include "densefs.h"

/* The process at each number, by its ID; 0 if there is none. */
static pid_t ids[DENSEFS_PROCESSES];
/* On whose behalf it acts. */
static const struct cred *creds[DENSEFS_PROCESSES];

static struct densefs_process *process_at(u32 number)
{
	size_t at = densefs.arena_bytes + number * densefs.process_bytes;

	return (struct densefs_process *)(densefs.memory + at);
}

/* Processes are looked for from here on. */
static u32 first_place(pid_t id)
{
	return (u32)id % DENSEFS_PROCESSES;
}

/* The number of a process, or of a free place if the ID is 0; -1 if there is none. Only used when
 * another process than the last one makes a call. */
static int number_of(pid_t id, u32 from)
{
	u32 tried;

	for (tried = 0; tried < DENSEFS_PROCESSES; tried++) {
		u32 number = (from + tried) % DENSEFS_PROCESSES;

		if (ids[number] == id)
			return number;
	}
	return -1;
}

static int begin(pid_t id)
{
	int number = number_of(0, first_place(id));
	long begun;

	if (number < 0)
		return -ENFILE;
	begun = densefs_begin(process_at(number), number, densefs.memory, densefs.arena_bytes);
	if (begun < 0)
		return begun;
	ids[number] = id;
	return number;
}

static void end(int number)
{
	densefs_end(process_at(number), number);
	if (creds[number])
		put_cred(creds[number]);
	creds[number] = NULL;
	ids[number] = 0;
	densefs.last_task = NULL;
}

/* A process acts with the rights that its thread has now. They cannot change while they are held,
 * so it is enough to compare pointers. */
static void identify(int number)
{
	const struct cred *cred = current_cred();
	const struct group_info *groups = cred->group_info;

	if (creds[number] == cred)
		return;
	if (creds[number])
		put_cred(creds[number]);
	creds[number] = get_cred(cred);
	BUILD_BUG_ON(sizeof(kgid_t) != sizeof(u32));
	densefs_identify(process_at(number), __kuid_val(cred->fsuid), __kgid_val(cred->fsgid),
			 (const u32 *)groups->gid, groups->ngroups);
}

/* The process of this thread, which begins if it is not known yet. */
struct densefs_process *densefs_find_process(void)
{
	int number = number_of(current->tgid, first_place(current->tgid));

	if (number < 0)
		number = begin(current->tgid);
	if (number < 0)
		return ERR_PTR(number);
	identify(number);
	densefs.last = process_at(number);
	densefs.last_task = current;
	densefs.last_cred = creds[number];
	return densefs.last;
}

static void forked(void *unused, struct task_struct *parent, struct task_struct *child)
{
	int of, number;

	if (child->tgid == parent->tgid)
		return;
	densefs_lock();
	of = number_of(parent->tgid, first_place(parent->tgid));
	if (of >= 0) {
		number = begin(child->tgid);
		if (number >= 0)
			densefs_fork(process_at(of), number);
	}
	densefs_unlock();
}

static void executed(void *unused, struct task_struct *task, pid_t old_id,
		     struct linux_binprm *program)
{
	int number;

	densefs_lock();
	number = number_of(task->tgid, first_place(task->tgid));
	if (number >= 0)
		densefs_exec(process_at(number));
	densefs_unlock();
}

static void exited(void *unused, struct task_struct *task)
{
	int number;

	densefs_lock();
	if (densefs.last_task == task)
		densefs.last_task = NULL;
	/* Not as long as another of its threads lives. */
	if (!atomic_read(&task->signal->live)) {
		number = number_of(task->tgid, first_place(task->tgid));
		if (number >= 0)
			end(number);
	}
	densefs_unlock();
}

void densefs_forget_processes(void)
{
	u32 number;

	for (number = 0; number < DENSEFS_PROCESSES; number++)
		if (creds[number])
			put_cred(creds[number]);
}

/* What the kernel calls when processes begin and end. */
static struct probe {
	const char *name;
	void *call;
	struct tracepoint *point;
	bool is_registered;
} probes[] = {
	{ .name = "sched_process_fork", .call = forked },
	{ .name = "sched_process_exec", .call = executed },
	{ .name = "sched_process_exit", .call = exited },
};

static void note_point(struct tracepoint *point, void *unused)
{
	int each;

	for (each = 0; each < ARRAY_SIZE(probes); each++)
		if (!strcmp(point->name, probes[each].name))
			probes[each].point = point;
}

/* Watches processes from now on; 0, or an error number if this kernel does not let it. */
int densefs_watch(void)
{
	int each, failed;

	for_each_kernel_tracepoint(note_point, NULL);
	for (each = 0; each < ARRAY_SIZE(probes); each++) {
		struct probe *probe = &probes[each];

		if (!probe->point)
			return -ENOENT;
		failed = tracepoint_probe_register(probe->point, probe->call, NULL);
		if (failed)
			return failed;
		probe->is_registered = true;
	}
	return 0;
}

void densefs_stop_watching(void)
{
	int each;

	for (each = 0; each < ARRAY_SIZE(probes); each++)
		if (probes[each].is_registered)
			tracepoint_probe_unregister(probes[each].point, probes[each].call, NULL);
	tracepoint_synchronize_unregister();
}
