// Compilers on GLIBC_2.38 and later call number parsers by new names, which also read C23's "0b"
// prefix. Older systems have the old names; "0b101" then reads as 0 there, as it always did.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Bound by version so that the headers of such a system can't send the calls back here.
#define OLD(name) __asm__(".symver old_" #name "," #name "@GLIBC_2.2.5")
#define OLD_SCANF(name) __asm__(".symver old_" #name ",__isoc99_" #name "@GLIBC_2.7")

OLD(strtol);
OLD(strtoll);
OLD(strtoul);
OLD(strtoull);
OLD_SCANF(vsscanf);
OLD_SCANF(vfscanf);

extern long old_strtol(const char* text, char** end, int base);
extern long long old_strtoll(const char* text, char** end, int base);
extern unsigned long old_strtoul(const char* text, char** end, int base);
extern unsigned long long old_strtoull(const char* text, char** end, int base);
extern int old_vsscanf(const char* text, const char* format, va_list arguments);
extern int old_vfscanf(FILE* stream, const char* format, va_list arguments);

long __isoc23_strtol(const char* text, char** end, int base) {
  return old_strtol(text, end, base);
}
long long __isoc23_strtoll(const char* text, char** end, int base) {
  return old_strtoll(text, end, base);
}
unsigned long __isoc23_strtoul(const char* text, char** end, int base) {
  return old_strtoul(text, end, base);
}
unsigned long long __isoc23_strtoull(const char* text, char** end, int base) {
  return old_strtoull(text, end, base);
}

int __isoc23_vsscanf(const char* text, const char* format, va_list arguments) {
  return old_vsscanf(text, format, arguments);
}

int __isoc23_vfscanf(FILE* stream, const char* format, va_list arguments) {
  return old_vfscanf(stream, format, arguments);
}

int __isoc23_sscanf(const char* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int result = old_vsscanf(text, format, arguments);
  va_end(arguments);
  return result;
}

int __isoc23_fscanf(FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int result = old_vfscanf(stream, format, arguments);
  va_end(arguments);
  return result;
}
