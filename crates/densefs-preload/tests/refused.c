/* Runs a program where the kernel refuses to make code. Exits with 77 if this kernel cannot. */
#include <sys/prctl.h>
#include <unistd.h>

#include "check.h"

enum { SET_DENIAL = 65, NO_GAIN_OF_EXECUTION = 1 };

int main(void) {
    if (prctl(SET_DENIAL, NO_GAIN_OF_EXECUTION, 0, 0, 0) != 0) {
        return 77;
    }
    execl("/bin/echo", "echo", "still here", (char *)NULL);
    CHECK(!"it is executed");
    return 1;
}
