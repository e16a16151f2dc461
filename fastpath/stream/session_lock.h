/* The lock of a session: whoever holds it may write the session's records, view, plan and buffers.
 *
 * The event loop takes it and waits for it; the streaming thread only tries. When it finds the lock held, it leaves a word, goes on with
 * the other sessions, and whoever lets go has it told again. Plain C, so that the thread and its stress compile the same lines.
 */
#ifndef HAPTICD_SESSION_LOCK_H
#define HAPTICD_SESSION_LOCK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>

typedef struct {
    pthread_mutex_t mutex;
    /* the streaming thread found it held */
    uint64_t missed;
} hd_lock;

/* One thread may take it again; who waits lends its priority to who holds it. 0, or an errno. */
static inline int hd_lock_init(hd_lock *lock) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    const int error = pthread_mutex_init(&lock->mutex, &kind);
    pthread_mutexattr_destroy(&kind);
    lock->missed = 0;
    return error;
}

static inline void hd_lock_end(hd_lock *lock) { pthread_mutex_destroy(&lock->mutex); }

/* Streaming thread: 1 with the lock; 0 when it is held, and its holder is to tell. */
static inline int hd_lock_try(hd_lock *lock) {
    if (pthread_mutex_trylock(&lock->mutex) != 0) {
        __atomic_exchange_n(&lock->missed, 1, __ATOMIC_ACQ_REL);
        /* Its holder may have let go before it could see the word. */
        if (pthread_mutex_trylock(&lock->mutex) != 0) return 0;
    }
    __atomic_exchange_n(&lock->missed, 0, __ATOMIC_ACQ_REL);
    return 1;
}

/* Streaming thread: let go. */
static inline void hd_lock_leave(hd_lock *lock) { pthread_mutex_unlock(&lock->mutex); }

/* Event loop: wait for it. */
static inline void hd_lock_take(hd_lock *lock) { pthread_mutex_lock(&lock->mutex); }

/* Event loop: let go, of the last of several times when `last`; 1 when the streaming thread is to be told that it may try again. */
static inline int hd_lock_free(hd_lock *lock, int last) {
    pthread_mutex_unlock(&lock->mutex);
    return last && __atomic_exchange_n(&lock->missed, 0, __ATOMIC_ACQ_REL) != 0;
}

#endif
