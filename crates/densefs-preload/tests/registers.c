/* What a site does to registers, to the red zone and to the stack. The function getppid is a site
   and a return, so calling it shows what the site changes. */
#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

enum { GETPPID = 110 };
enum { PASS, SERVE, SERVE_ELSEWHERE };

static void (*order)(size_t number, size_t how, size_t value);
static long (*seen)(int number);

/* Registers: rax rbx rcx rdx rsi rdi rbp rsp r8 to r15, and what is below the stack pointer at the
   site. After getppid, nothing is in vector registers, so the site need not keep them. */
struct state {
    uint64_t general[16];
    uint64_t red_zone[16];
};

enum { RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8, R9, R10, R11 };

struct state before, after;
void *function;
uint64_t own_stack;

/* Loads all registers but rsp from `before`, and calls `function`; then stores them in `after`. */
void exercise(void);
__asm__(
    ".text\n"
    ".type exercise, @function\n"
    "exercise:\n"
    "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
    "sub $8, %rsp\n"
    "mov %rsp, own_stack(%rip)\n"
    "lea before(%rip), %rax\n"
    /* The call pushes 8 bytes, and the site's red zone is below them. */
    ".set index, 0\n"
    ".rept 16\n"
    "mov 128 + 8 * index(%rax), %rcx\n"
    "mov %rcx, -16 - 8 * index(%rsp)\n"
    ".set index, index + 1\n"
    ".endr\n"
    "mov 8(%rax), %rbx\n mov 16(%rax), %rcx\n mov 24(%rax), %rdx\n mov 32(%rax), %rsi\n"
    "mov 40(%rax), %rdi\n mov 48(%rax), %rbp\n mov 64(%rax), %r8\n mov 72(%rax), %r9\n"
    "mov 80(%rax), %r10\n mov 88(%rax), %r11\n mov 96(%rax), %r12\n mov 104(%rax), %r13\n"
    "mov 112(%rax), %r14\n mov 120(%rax), %r15\n"
    "mov (%rax), %rax\n"
    "call *function(%rip)\n"
    ".globl returned\n"
    "returned:\n"
    "mov %rax, after(%rip)\n"
    "mov %rsp, 56 + after(%rip)\n"
    "mov own_stack(%rip), %rsp\n"
    "lea after(%rip), %rax\n"
    "mov %rbx, 8(%rax)\n mov %rcx, 16(%rax)\n mov %rdx, 24(%rax)\n mov %rsi, 32(%rax)\n"
    "mov %rdi, 40(%rax)\n mov %rbp, 48(%rax)\n mov %r8, 64(%rax)\n mov %r9, 72(%rax)\n"
    "mov %r10, 80(%rax)\n mov %r11, 88(%rax)\n mov %r12, 96(%rax)\n mov %r13, 104(%rax)\n"
    "mov %r14, 112(%rax)\n mov %r15, 120(%rax)\n"
    ".set index, 0\n"
    ".rept 16\n"
    "mov -16 - 8 * index(%rsp), %rcx\n"
    "mov %rcx, 128 + 8 * index(%rax)\n"
    ".set index, index + 1\n"
    ".endr\n"
    "add $8, %rsp\n"
    "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
    "ret\n");
extern char returned[];

/* Fills all registers with values of their own, and calls `function`. */
static void call(void) {
    for (size_t index = 0; index < sizeof before / 8; index++) {
        ((uint64_t *)&before)[index] = 0x0101010101010101 * (index + 1) ^ (uint64_t)rand() << 32;
    }
    exercise();
}

/* Everything is as before, but for what the instruction changes. */
static void check_kept(void) {
    for (int index = 0; index < 16; index++) {
        if (index != RAX && index != RCX && index != R11 && index != RSP) {
            CHECK(after.general[index] == before.general[index]);
        }
    }
    CHECK(memcmp(after.red_zone, before.red_zone, sizeof after.red_zone) == 0);
}

/* What becomes of a call that the server leaves to the kernel, or serves. */
static void check_all(void) {
    long count = seen(GETPPID);
    order(GETPPID, PASS, 0);
    call();
    CHECK(seen(GETPPID) == count + 1);
    CHECK(after.general[RAX] == (uint64_t)getppid());
    CHECK(after.general[RSP] == own_stack);
    check_kept();

    order(GETPPID, SERVE, 12345);
    call();
    CHECK(after.general[RAX] == 12345);
    CHECK(after.general[RSP] == own_stack);
    check_kept();
}

/* The function goes on where another stack says. */
static void check_other_stack(void) {
    static uint64_t stack[64];
    stack[32] = (uint64_t)returned;
    for (size_t index = 0; index < sizeof before / 8; index++) {
        ((uint64_t *)&before)[index] = 7 * (index + 1);
    }
    before.general[RDI] = (uint64_t)&stack[32];
    order(GETPPID, SERVE_ELSEWHERE, 99);
    exercise();
    CHECK(after.general[RAX] == 99);
    CHECK(after.general[RSP] == (uint64_t)&stack[33]);
    check_kept();
}

int main(void) {
    *(void **)&order = dlsym(RTLD_DEFAULT, "sites_order");
    *(void **)&seen = dlsym(RTLD_DEFAULT, "sites_seen");
    CHECK(order && seen);
    *(void **)&function = dlsym(RTLD_DEFAULT, "getppid");
    CHECK(function);
    check_all();
    check_other_stack();
    return 0;
}
