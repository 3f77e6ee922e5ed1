// GLIBC_2.28 gave fcntl a second name for programs with 64-bit file offsets. On x86-64 offsets
// always have 64 bits and both are one function.

#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdarg.h>

__asm__(".symver fcntl_base,fcntl@GLIBC_2.2.5");
extern int fcntl_base(int fd, int command, ...);

int fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);  // An int argument travels in the same register.
  va_end(arguments);
  return fcntl_base(fd, command, argument);
}
