// Tells the thread sanitizer what abseil's locks do.
//
// The distribution's abseil is not instrumented, so the sanitizer would see no order between
// threads that pass an absl::Mutex and report races that are none. These functions stand in front
// of the library's, in builds with the sanitizer only, and add the missing edges. What a lock call
// does inside, conditions of other threads included, is ignored.
#if defined(__SANITIZE_THREAD__)

#include <dlfcn.h>

#include <cstdint>

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace {

// absl::Duration and absl::Time as they are passed.
struct TimeArgument {
  int64_t high;
  uint32_t low;
};

class Ignored {
 public:
  Ignored() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Ignored() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
};

template <typename Function>
Function* Real(Function*& cached, const char* name) {
  if (cached == nullptr) cached = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return cached;
}

}  // namespace

// One function in front of the library's. `before` and `after` are the edges that the call makes on
// the object `mutex`.
#define EVENKEEL_FRONT(result, id, symbol, parameters, arguments, before, after) \
  extern "C" result id parameters __asm__(symbol);                               \
  extern "C" result id parameters {                                              \
    static result(*real) parameters = nullptr;                                   \
    before;                                                                      \
    Ignored ignored;                                                             \
    Real(real, symbol);                                                          \
    struct After {                                                               \
      void* mutex;                                                               \
      ~After() { after; }                                                        \
    } at_end{mutex};                                                             \
    (void)at_end;                                                                \
    return real arguments;                                                       \
  }
#define EVENKEEL_ACQUIRE __tsan_acquire(mutex)
#define EVENKEEL_RELEASE __tsan_release(mutex)
#define EVENKEEL_NOTHING (void)mutex

#define EVENKEEL_MUTEX "_ZN4absl7debian35Mutex"
#define EVENKEEL_CONDVAR "_ZN4absl7debian37CondVar"
#define EVENKEEL_NOTIFICATION "_ZNK4absl7debian312Notification"

EVENKEEL_FRONT(void, TsanLock, EVENKEEL_MUTEX "4LockEv", (void* mutex), (mutex), EVENKEEL_NOTHING,
               EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(bool, TsanTryLock, EVENKEEL_MUTEX "7TryLockEv", (void* mutex), (mutex),
               EVENKEEL_NOTHING, EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(void, TsanUnlock, EVENKEEL_MUTEX "6UnlockEv", (void* mutex), (mutex),
               EVENKEEL_RELEASE, EVENKEEL_NOTHING)
EVENKEEL_FRONT(void, TsanReaderLock, EVENKEEL_MUTEX "10ReaderLockEv", (void* mutex), (mutex),
               EVENKEEL_NOTHING, EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(bool, TsanReaderTryLock, EVENKEEL_MUTEX "13ReaderTryLockEv", (void* mutex), (mutex),
               EVENKEEL_NOTHING, EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(void, TsanReaderUnlock, EVENKEEL_MUTEX "12ReaderUnlockEv", (void* mutex), (mutex),
               EVENKEEL_RELEASE, EVENKEEL_NOTHING)
EVENKEEL_FRONT(void, TsanAwait, EVENKEEL_MUTEX "5AwaitERKNS0_9ConditionE",
               (void* mutex, const void* condition), (mutex, condition), EVENKEEL_RELEASE,
               EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(bool, TsanAwaitTimeout,
               EVENKEEL_MUTEX "16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE",
               (void* mutex, const void* condition, TimeArgument time), (mutex, condition, time),
               EVENKEEL_RELEASE, EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(bool, TsanAwaitDeadline,
               EVENKEEL_MUTEX "17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE",
               (void* mutex, const void* condition, TimeArgument time), (mutex, condition, time),
               EVENKEEL_RELEASE, EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(void, TsanLockWhen, EVENKEEL_MUTEX "8LockWhenERKNS0_9ConditionE",
               (void* mutex, const void* condition), (mutex, condition), EVENKEEL_RELEASE,
               EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(bool, TsanLockWhenTimeout,
               EVENKEEL_MUTEX "19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE",
               (void* mutex, const void* condition, TimeArgument time), (mutex, condition, time),
               EVENKEEL_RELEASE, EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(bool, TsanLockWhenDeadline,
               EVENKEEL_MUTEX "20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE",
               (void* mutex, const void* condition, TimeArgument time), (mutex, condition, time),
               EVENKEEL_RELEASE, EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(void, TsanWait, EVENKEEL_CONDVAR "4WaitEPNS0_5MutexE", (void* self, void* mutex),
               (self, mutex), EVENKEEL_RELEASE, EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(bool, TsanWaitTimeout,
               EVENKEEL_CONDVAR "15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE",
               (void* self, void* mutex, TimeArgument time), (self, mutex, time), EVENKEEL_RELEASE,
               EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(bool, TsanWaitDeadline, EVENKEEL_CONDVAR "16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE",
               (void* self, void* mutex, TimeArgument time), (self, mutex, time), EVENKEEL_RELEASE,
               EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(void, TsanNotify, "_ZN4absl7debian312Notification6NotifyEv", (void* mutex), (mutex),
               EVENKEEL_RELEASE, EVENKEEL_NOTHING)
EVENKEEL_FRONT(void, TsanAwaitNotification, EVENKEEL_NOTIFICATION "19WaitForNotificationEv",
               (void* mutex), (mutex), EVENKEEL_NOTHING, EVENKEEL_ACQUIRE)
EVENKEEL_FRONT(bool, TsanAwaitNotificationTimeout,
               EVENKEEL_NOTIFICATION "30WaitForNotificationWithTimeoutENS0_8DurationE",
               (void* mutex, TimeArgument time), (mutex, time), EVENKEEL_NOTHING, EVENKEEL_ACQUIRE)

#endif  // __SANITIZE_THREAD__
