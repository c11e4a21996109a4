// Tells the thread sanitizer what the distribution's abseil does, which is built without it:
// whoever takes a mutex, or is woken by a notification, comes behind who let go of it.
//
// The linker sends the program's calls of the functions of WRAPPED (CMakeLists.txt) here. abseil
// asks a waiter's condition in whichever thread lets go of the mutex, while it still holds it; what
// is read then is not looked at.
#include <absl/synchronization/mutex.h>
#include <absl/synchronization/notification.h>
#include <absl/time/time.h>

#define SYMBOL(prefix, name) prefix##_ZN4absl7debian3##name
#define CONST_SYMBOL(prefix, name) prefix##_ZNK4absl7debian3##name

extern "C" {

void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);

void SYMBOL(__real_, 5Mutex4LockEv)(absl::Mutex*);
void SYMBOL(__real_, 5Mutex6UnlockEv)(absl::Mutex*);
void SYMBOL(__real_, 5Mutex10ReaderLockEv)(absl::Mutex*);
void SYMBOL(__real_, 5Mutex12ReaderUnlockEv)(absl::Mutex*);
void SYMBOL(__real_, 5Mutex5AwaitERKNS0_9ConditionE)(absl::Mutex*, const absl::Condition&);
bool SYMBOL(__real_,
            5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE)(absl::Mutex*,
                                                                      const absl::Condition&,
                                                                      absl::Duration);
void SYMBOL(__real_, 7CondVar4WaitEPNS0_5MutexE)(absl::CondVar*, absl::Mutex*);
bool SYMBOL(__real_, 7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE)(absl::CondVar*,
                                                                           absl::Mutex*,
                                                                           absl::Duration);
bool SYMBOL(__real_, 7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE)(absl::CondVar*,
                                                                        absl::Mutex*, absl::Time);
void SYMBOL(__real_, 12Notification6NotifyEv)(absl::Notification*);
void CONST_SYMBOL(__real_, 12Notification19WaitForNotificationEv)(absl::Notification*);
bool CONST_SYMBOL(__real_, 12Notification30WaitForNotificationWithTimeoutENS0_8DurationE)(
    absl::Notification*, absl::Duration);

}  // extern "C"

namespace {

// Where a notification keeps the flag that HasBeenNotified reads in the program's own code.
void* FlagOf(absl::Notification* notification) {
  return reinterpret_cast<char*>(notification) + sizeof(absl::Mutex);
}

// Lets go of the mutex for as long as `wait` takes.
template <typename Wait>
auto WhileLetGo(absl::Mutex* mutex, Wait wait) {
  __tsan_release(mutex);
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  const auto result = wait();
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  __tsan_acquire(mutex);
  return result;
}

}  // namespace

extern "C" {

void SYMBOL(__wrap_, 5Mutex4LockEv)(absl::Mutex* mutex) {
  SYMBOL(__real_, 5Mutex4LockEv)(mutex);
  __tsan_acquire(mutex);
}

void SYMBOL(__wrap_, 5Mutex6UnlockEv)(absl::Mutex* mutex) {
  __tsan_release(mutex);
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  SYMBOL(__real_, 5Mutex6UnlockEv)(mutex);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

void SYMBOL(__wrap_, 5Mutex10ReaderLockEv)(absl::Mutex* mutex) {
  SYMBOL(__real_, 5Mutex10ReaderLockEv)(mutex);
  __tsan_acquire(mutex);
}

void SYMBOL(__wrap_, 5Mutex12ReaderUnlockEv)(absl::Mutex* mutex) {
  __tsan_release(mutex);
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  SYMBOL(__real_, 5Mutex12ReaderUnlockEv)(mutex);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

void SYMBOL(__wrap_, 5Mutex5AwaitERKNS0_9ConditionE)(absl::Mutex* mutex,
                                                     const absl::Condition& condition) {
  WhileLetGo(mutex, [&] {
    SYMBOL(__real_, 5Mutex5AwaitERKNS0_9ConditionE)(mutex, condition);
    return true;
  });
}

bool SYMBOL(__wrap_, 5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE)(
    absl::Mutex* mutex, const absl::Condition& condition, absl::Duration timeout) {
  return WhileLetGo(mutex, [&] {
    return SYMBOL(__real_, 5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE)(
        mutex, condition, timeout);
  });
}

void SYMBOL(__wrap_, 7CondVar4WaitEPNS0_5MutexE)(absl::CondVar* changed, absl::Mutex* mutex) {
  WhileLetGo(mutex, [&] {
    SYMBOL(__real_, 7CondVar4WaitEPNS0_5MutexE)(changed, mutex);
    return true;
  });
}

bool SYMBOL(__wrap_, 7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE)(absl::CondVar* changed,
                                                                           absl::Mutex* mutex,
                                                                           absl::Duration timeout) {
  return WhileLetGo(mutex, [&] {
    return SYMBOL(__real_, 7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE)(changed, mutex,
                                                                                 timeout);
  });
}

bool SYMBOL(__wrap_, 7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE)(absl::CondVar* changed,
                                                                        absl::Mutex* mutex,
                                                                        absl::Time deadline) {
  return WhileLetGo(mutex, [&] {
    return SYMBOL(__real_, 7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE)(changed, mutex,
                                                                              deadline);
  });
}

void SYMBOL(__wrap_, 12Notification6NotifyEv)(absl::Notification* notification) {
  __tsan_release(FlagOf(notification));
  SYMBOL(__real_, 12Notification6NotifyEv)(notification);
}

void CONST_SYMBOL(__wrap_,
                  12Notification19WaitForNotificationEv)(absl::Notification* notification) {
  CONST_SYMBOL(__real_, 12Notification19WaitForNotificationEv)(notification);
  __tsan_acquire(FlagOf(notification));
}

bool CONST_SYMBOL(__wrap_, 12Notification30WaitForNotificationWithTimeoutENS0_8DurationE)(
    absl::Notification* notification, absl::Duration timeout) {
  const bool notified =
      CONST_SYMBOL(__real_, 12Notification30WaitForNotificationWithTimeoutENS0_8DurationE)(
          notification, timeout);
  if (notified) __tsan_acquire(FlagOf(notification));
  return notified;
}

}  // extern "C"
