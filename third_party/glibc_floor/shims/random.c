// arc4random and its siblings (GLIBC_2.36). As there, the numbers come from the kernel and there is
// no error to return: without a source of randomness the process ends.

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// Linux before 3.17 has no getrandom; the device node serves there.
static void FillFromDevice(unsigned char* out, size_t size) {
  int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (fd < 0) abort();
  while (size > 0) {
    ssize_t got = read(fd, out, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) abort();
    out += got;
    size -= (size_t)got;
  }
  close(fd);
}

void arc4random_buf(void* buffer, size_t size) {
  unsigned char* out = buffer;
  int saved_errno = errno;
  while (size > 0) {
    long got = syscall(SYS_getrandom, out, size, 0);
    if (got > 0) {
      out += got;
      size -= (size_t)got;
    } else if (got == 0 || errno != EINTR) {
      FillFromDevice(out, size);
      break;
    }
  }
  errno = saved_errno;
}

uint32_t arc4random(void) {
  uint32_t value;
  arc4random_buf(&value, sizeof value);
  return value;
}

uint32_t arc4random_uniform(uint32_t bound) {
  if (bound < 2) return 0;
  // Values below 2^32 mod bound would make small results more likely.
  uint32_t skip = -bound % bound;
  uint32_t value;
  do {
    value = arc4random();
  } while (value < skip);
  return value % bound;
}
