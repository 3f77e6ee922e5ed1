// GLIBC_2.32 has this flag for code that may skip atomics while one thread runs. Zero ("there may
// be threads") is always right; the cost is an atomic where a plain increment would have done.

char __libc_single_threaded = 0;
