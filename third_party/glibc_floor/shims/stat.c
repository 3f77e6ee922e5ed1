// stat and mknod families. Before GLIBC_2.33 they were static wrappers around __xstat and
// __xmknod, which every glibc still exports; these are such wrappers.

#define _GNU_SOURCE 1
#include <sys/stat.h>
#include <sys/types.h>

// The layout numbers of x86-64: one struct for all calls, the kernel's.
enum { kStatVersion = 1, kMknodVersion = 0 };

#define OLD_SYMBOL(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#define OLD_SYMBOL_AT(name) __asm__(".symver " #name "," #name "@GLIBC_2.4")

OLD_SYMBOL(__xstat);
OLD_SYMBOL(__lxstat);
OLD_SYMBOL(__fxstat);
OLD_SYMBOL(__xstat64);
OLD_SYMBOL(__lxstat64);
OLD_SYMBOL(__fxstat64);
OLD_SYMBOL(__xmknod);
OLD_SYMBOL_AT(__fxstatat);
OLD_SYMBOL_AT(__fxstatat64);
OLD_SYMBOL_AT(__xmknodat);

extern int __xstat(int version, const char* path, struct stat* out);
extern int __lxstat(int version, const char* path, struct stat* out);
extern int __fxstat(int version, int fd, struct stat* out);
extern int __fxstatat(int version, int fd, const char* path, struct stat* out, int flags);
extern int __xstat64(int version, const char* path, struct stat64* out);
extern int __lxstat64(int version, const char* path, struct stat64* out);
extern int __fxstat64(int version, int fd, struct stat64* out);
extern int __fxstatat64(int version, int fd, const char* path, struct stat64* out, int flags);
extern int __xmknod(int version, const char* path, mode_t mode, dev_t* device);
extern int __xmknodat(int version, int fd, const char* path, mode_t mode, dev_t* device);

int stat(const char* path, struct stat* out) { return __xstat(kStatVersion, path, out); }
int lstat(const char* path, struct stat* out) { return __lxstat(kStatVersion, path, out); }
int fstat(int fd, struct stat* out) { return __fxstat(kStatVersion, fd, out); }
int fstatat(int fd, const char* path, struct stat* out, int flags) {
  return __fxstatat(kStatVersion, fd, path, out, flags);
}

int stat64(const char* path, struct stat64* out) { return __xstat64(kStatVersion, path, out); }
int lstat64(const char* path, struct stat64* out) { return __lxstat64(kStatVersion, path, out); }
int fstat64(int fd, struct stat64* out) { return __fxstat64(kStatVersion, fd, out); }
int fstatat64(int fd, const char* path, struct stat64* out, int flags) {
  return __fxstatat64(kStatVersion, fd, path, out, flags);
}

int mknod(const char* path, mode_t mode, dev_t device) {
  return __xmknod(kMknodVersion, path, mode, &device);
}
int mknodat(int fd, const char* path, mode_t mode, dev_t device) {
  return __xmknodat(kMknodVersion, fd, path, mode, &device);
}
