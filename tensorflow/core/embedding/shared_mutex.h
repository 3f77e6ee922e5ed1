// A reader-writer lock on which readers that keep coming can not starve a writer, as they can on std::shared_mutex
// with glibc. Usable with std::shared_lock and std::unique_lock. A thread must not take it shared twice.

#ifndef TENSORFLOW_CORE_EMBEDDING_SHARED_MUTEX_H_
#define TENSORFLOW_CORE_EMBEDDING_SHARED_MUTEX_H_

#include <pthread.h>

namespace deeprec {
namespace embedding {

class SharedMutex {
 public:
  SharedMutex() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~SharedMutex() { pthread_rwlock_destroy(&lock_); }
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void lock() { pthread_rwlock_wrlock(&lock_); }
  void unlock() { pthread_rwlock_unlock(&lock_); }
  void lock_shared() { pthread_rwlock_rdlock(&lock_); }
  void unlock_shared() { pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_SHARED_MUTEX_H_
