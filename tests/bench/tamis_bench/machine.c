/* SPDX-License-Identifier: BSD-2-Clause */
#include "machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "crew.h"
#include "tamis.h"

/* The first line of a file, without its end; empty if there is none. */
static void first_line(const char *path, char *line, size_t bytes)
{
    FILE *file = fopen(path, "r");
    line[0] = '\0';
    if (file == NULL) return;
    if (fgets(line, (int)bytes, file) != NULL) line[strcspn(line, "\n")] = '\0';
    (void)fclose(file);
}

static void look_at_cpu(struct machine *m)
{
    char line[4096];
    FILE *file = fopen("/proc/cpuinfo", "r");
    (void)snprintf(m->cpu, sizeof m->cpu, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (value == NULL || strncmp(line, "model name", 10) != 0) continue;
        (void)snprintf(m->cpu, sizeof m->cpu, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (file != NULL) (void)fclose(file);
#if defined(__x86_64__)
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    (void)snprintf(m->features, sizeof m->features, "SSE2%s%s",
                   __builtin_cpu_supports("avx2") ? ", AVX2" : "", avx512 ? ", AVX-512" : "");
#elif defined(__aarch64__)
    (void)snprintf(m->features, sizeof m->features, "NEON");
#endif
}

static void look_at_caches(struct machine *m)
{
    size_t used = 0;
    for (unsigned i = 0; i < 8; i++) {
        char path[128], level[16], type[32], size[32];
        const char *of = "/sys/devices/system/cpu/cpu0/cache/index";
        (void)snprintf(path, sizeof path, "%s%u/level", of, i);
        first_line(path, level, sizeof level);
        (void)snprintf(path, sizeof path, "%s%u/type", of, i);
        first_line(path, type, sizeof type);
        (void)snprintf(path, sizeof path, "%s%u/size", of, i);
        first_line(path, size, sizeof size);
        if (level[0] == '\0' || strcmp(type, "Instruction") == 0 || used >= sizeof m->caches - 64)
            continue;
        used += (size_t)snprintf(m->caches + used, sizeof m->caches - used, "%sL%s %s",
                                 used > 0 ? ", " : "", level, size);
    }
}

static const char *name_of_file_system(unsigned long type)
{
    switch (type) {
    case 0xEF53:
        return "ext4";
    case 0x9123683E:
        return "btrfs";
    case 0x58465342:
        return "xfs";
    case 0x01021994:
        return "tmpfs";
    case 0x794C7630:
        return "overlay";
    case 0x2FC12FC1:
        return "zfs";
    default:
        return NULL;
    }
}

static void look_at_memory(struct machine *m)
{
    char line[128];
    m->page_bytes = sysconf(_SC_PAGESIZE);
    m->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)m->page_bytes;
    first_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line);
    const char *from = strchr(line, '['), *to = strchr(line, ']');
    if (from != NULL && to != NULL)
        (void)snprintf(m->huge_pages, sizeof m->huge_pages, "%.*s", (int)(to - from - 1), from + 1);
}

void machine_look(const char *directory, struct machine *m)
{
    struct utsname name;
    struct statfs file_system;
    *m = (struct machine){.processors = crew_processors(), .simd = tamis_simd()};
    look_at_cpu(m);
    look_at_caches(m);
    look_at_memory(m);
    if (uname(&name) == 0)
        (void)snprintf(m->kernel, sizeof m->kernel, "%.60s %.*s", name.sysname,
                       (int)strcspn(name.release, "-+"), name.release);
#if defined(__clang__)
    (void)snprintf(m->compiler, sizeof m->compiler, "%.100s", __VERSION__);
#else
    (void)snprintf(m->compiler, sizeof m->compiler, "GCC %.100s", __VERSION__);
#endif
    if (statfs(directory, &file_system) == 0) {
        const unsigned long type = (unsigned long)file_system.f_type & 0xffffffff;
        const char *known = name_of_file_system(type);
        if (known != NULL)
            (void)snprintf(m->file_system, sizeof m->file_system, "%s", known);
        else
            (void)snprintf(m->file_system, sizeof m->file_system, "type %lx", type);
    }
}
