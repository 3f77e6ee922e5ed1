// Plain system calls that got a C function later than the limit: gettid (GLIBC_2.30),
// copy_file_range and memfd_create (GLIBC_2.27).

#define _GNU_SOURCE 1
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// Kernels without it set ENOSYS, which callers must expect of the library's function too.
ssize_t copy_file_range(int in, off_t* in_offset, int out, off_t* out_offset, size_t size,
                        unsigned flags) {
  return syscall(SYS_copy_file_range, in, in_offset, out, out_offset, size, flags);
}

int memfd_create(const char* name, unsigned flags) {
  return (int)syscall(SYS_memfd_create, name, flags);
}
