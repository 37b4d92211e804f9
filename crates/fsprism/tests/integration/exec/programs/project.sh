# needs: make cc ar awk
# A library of 40 files with headers, programs that use it, and tests.
mkdir -p project/src project/include project/tests project/build && cd project
i=0
while [ $i -lt 40 ]; do
    n=$(((i + 1) % 40))
    printf '#ifndef H%s\n#define H%s\n#include <stddef.h>\nlong f%s(long x);\n#endif\n' $i $i $i \
        >include/f$i.h
    printf '#include "f%s.h"\n#include "f%s.h"\n#include <string.h>\n#include <stdio.h>\n' $i $n \
        >src/f$i.c
    printf 'long f%s(long x) { char b[64]; snprintf(b, sizeof b, "%%ld", x);\n' $i >>src/f$i.c
    printf '    return x <= 0 ? (long)strlen(b) : f%s(x - 1) + %s; }\n' $n $i >>src/f$i.c
    i=$((i + 1))
done
for t in 1 2 3 4 5 6; do
    printf '#include "f%s.h"\n#include <stdio.h>\nint main(void) {\n' $t
    printf '    printf("%%ld\\n", f%s(100));\n    return f%s(3) < 0;\n}\n' $t $t
done | awk '/include "f/ { n++ } { print >("tests/t" n ".c") }'
cat >Makefile <<'X'
SOURCES := $(sort $(wildcard src/*.c))
OBJECTS := $(SOURCES:src/%.c=build/%.o)
TESTS := $(patsubst tests/%.c,build/%,$(sort $(wildcard tests/*.c)))
CFLAGS := -O1 -Iinclude -MMD -Wall
all: build/libf.a $(TESTS)
build/%.o: src/%.c
	$(CC) $(CFLAGS) -c -o $@ $<
build/libf.a: $(OBJECTS)
	$(AR) rcsD $@ $^
build/t%: tests/t%.c build/libf.a
	$(CC) $(CFLAGS) -o $@ $< -Lbuild -lf
check: $(TESTS)
	for test in $^; do cp $$test /var/tmp/fsprism-$$$$ && /var/tmp/fsprism-$$$$ || exit 1; \
		rm /var/tmp/fsprism-$$$$; done
clean:
	rm -rf build/*
-include $(wildcard build/*.d)
X
make -j4 >made && sort made | wc -l && make && make -s check
touch include/f3.h && make -j4 | wc -l && ar t build/libf.a | wc -l
make -s -j2 check | sort | uniq -c
make clean && make -j4 -O >made && wc -l <made && rm made && make clean
