// Waits with a deadline on a chosen clock (GLIBC_2.30). std::condition_variable::wait_for and
// std::timed_mutex call them inline for the steady clock. Where the running glibc has the real
// function it is used. Older ones can only wait for the wall clock, so the deadline is converted,
// and the call reports a time-out only once the asked clock has passed it; a wall clock set back
// during the wait makes the wait longer, as it did in libstdc++ before GCC 10.

#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { kNanosPerSecond = 1000000000 };

// The function of the running glibc or NULL. `cache` holds 1 until the first look-up.
static void* RealFunction(_Atomic(uintptr_t)* cache, const char* name) {
  uintptr_t known = atomic_load_explicit(cache, memory_order_acquire);
  if (known == 1) {
    known = (uintptr_t)dlsym(RTLD_DEFAULT, name);
    atomic_store_explicit(cache, known, memory_order_release);
  }
  return (void*)known;
}

#define REAL_FUNCTION(name) ({                 \
  static _Atomic(uintptr_t) cache = 1;         \
  (__typeof__(&name))RealFunction(&cache, #name); })

static int IsSupported(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static struct timespec ToWallClock(clockid_t clock, const struct timespec* deadline) {
  if (clock == CLOCK_REALTIME) return *deadline;
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  wall.tv_sec += deadline->tv_sec - now.tv_sec;
  wall.tv_nsec += deadline->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec < 0) {
    wall.tv_nsec += kNanosPerSecond;
    wall.tv_sec -= 1;
  } else if (wall.tv_nsec >= kNanosPerSecond) {
    wall.tv_nsec -= kNanosPerSecond;
    wall.tv_sec += 1;
  }
  if (wall.tv_sec < 0) wall = (struct timespec){0, 0};  // Long past: time out at once.
  return wall;
}

static int IsPast(clockid_t clock, const struct timespec* deadline) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > deadline->tv_sec ||
         (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

static int IsValid(const struct timespec* deadline) {
  return deadline->tv_nsec >= 0 && deadline->tv_nsec < kNanosPerSecond;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* deadline) {
  __typeof__(&pthread_cond_clockwait) real = REAL_FUNCTION(pthread_cond_clockwait);
  if (real) return real(condition, mutex, clock, deadline);
  if (!IsSupported(clock) || !IsValid(deadline)) return EINVAL;
  int result;
  do {
    struct timespec wall = ToWallClock(clock, deadline);
    result = pthread_cond_timedwait(condition, mutex, &wall);
  } while (result == ETIMEDOUT && !IsPast(clock, deadline));
  return result;
}

// The lock and semaphore calls differ in type only.
#define DEFINE_CLOCK_CALL(name, type, timed_call)                              \
  int name(type* object, clockid_t clock, const struct timespec* deadline) {   \
    __typeof__(&name) real = REAL_FUNCTION(name);                              \
    if (real) return real(object, clock, deadline);                            \
    if (!IsSupported(clock) || !IsValid(deadline)) return EINVAL;              \
    int result;                                                                \
    do {                                                                       \
      struct timespec wall = ToWallClock(clock, deadline);                     \
      result = timed_call(object, &wall);                                      \
    } while (result == ETIMEDOUT && !IsPast(clock, deadline));                 \
    return result;                                                             \
  }

DEFINE_CLOCK_CALL(pthread_mutex_clocklock, pthread_mutex_t, pthread_mutex_timedlock)
DEFINE_CLOCK_CALL(pthread_rwlock_clockrdlock, pthread_rwlock_t, pthread_rwlock_timedrdlock)
DEFINE_CLOCK_CALL(pthread_rwlock_clockwrlock, pthread_rwlock_t, pthread_rwlock_timedwrlock)

// Unlike the lock calls this one returns -1 and puts the reason into errno.
int sem_clockwait(sem_t* semaphore, clockid_t clock, const struct timespec* deadline) {
  __typeof__(&sem_clockwait) real = REAL_FUNCTION(sem_clockwait);
  if (real) return real(semaphore, clock, deadline);
  if (!IsSupported(clock) || !IsValid(deadline)) {
    errno = EINVAL;
    return -1;
  }
  int result;
  do {
    struct timespec wall = ToWallClock(clock, deadline);
    result = sem_timedwait(semaphore, &wall);
  } while (result != 0 && errno == ETIMEDOUT && !IsPast(clock, deadline));
  return result;
}
