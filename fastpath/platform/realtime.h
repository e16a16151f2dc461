/* System calls of the loop thread. Each request may be refused; its result says so.
 *
 * Linux is the main platform; on others, requests that do not exist return "refused".
 */
#ifndef HAPTICD_REALTIME_H
#define HAPTICD_REALTIME_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#define HD_PAUSE() _mm_pause()
#else
#define HD_PAUSE() __asm__ __volatile__("" ::: "memory")
#endif

#define HD_STACK_BYTES (256 * 1024)

/* Return CLOCK_MONOTONIC in nanoseconds, the clock of the whole service. */
static inline int64_t hd_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Sleep until an absolute CLOCK_MONOTONIC time. */
static inline void hd_sleep_until(int64_t ns) {
    struct timespec t;
    t.tv_sec = ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
#ifdef __linux__
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {}
#else
    int64_t left = ns - hd_now_ns();
    if (left > 0) { t.tv_sec = left / 1000000000; t.tv_nsec = left % 1000000000; nanosleep(&t, NULL); }
#endif
}

/* Sleep until a margin before the time, then spin. */
static inline void hd_wait_until(int64_t ns, int64_t margin_ns) {
    if (ns - margin_ns > hd_now_ns()) hd_sleep_until(ns - margin_ns);
    while (hd_now_ns() < ns) HD_PAUSE();
}

/* Disable denormals: a decaying filter state must not slow the tick. */
static inline void hd_flush_denormals(void) {
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

/* Name the calling thread and set its timer slack to the minimum. */
static inline void hd_thread_setup(const char *name) {
#ifdef __linux__
    pthread_setname_np(pthread_self(), name);
    prctl(PR_SET_TIMERSLACK, 1UL);
#else
    (void)name;
#endif
}

/* Request SCHED_FIFO for the calling thread; 1 when granted. */
static inline int hd_request_fifo(int priority) {
#ifdef __linux__
    struct sched_param p;
    memset(&p, 0, sizeof p);
    p.sched_priority = priority;
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &p) == 0;
#else
    (void)priority;
    return 0;
#endif
}

/* Request a 0.1 ms slice of the fair scheduler (Linux 6.12 and later, no privilege), with the niceness as it is; 1 when granted. */
static inline int hd_request_short_slice(void) {
#if defined(__linux__) && defined(SYS_sched_setattr)
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.nice = getpriority(PRIO_PROCESS, 0);
    a.runtime = 100000;
    return syscall(SYS_sched_setattr, 0, &a, 0) == 0;
#else
    return 0;
#endif
}

/* Request a niceness for the calling thread alone; 1 when granted. */
static inline int hd_request_nice(int nice) {
#ifdef __linux__
    return setpriority(PRIO_PROCESS, 0, nice) == 0;
#else
    (void)nice;
    return 0;
#endif
}

/* Pin the calling thread to one CPU; 1 when granted. */
static inline int hd_pin(int cpu) {
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
#else
    (void)cpu;
    return 0;
#endif
}

/* Allocate page-aligned zeroed memory with every page present; NULL when there is none. */
static inline void *hd_pages(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    memset(p, 0, bytes);
    return p;
}

static inline void hd_pages_free(void *p, size_t bytes) { munmap(p, bytes); }

static inline int hd_pages_lock(void *p, size_t bytes) { return mlock(p, bytes) == 0; }

/* Start a joinable thread on a given stack; return 0 or an errno.
 *
 * All signals are blocked from its first instruction, except those of faults: a blocked fault signal would end the
 * process without the zero packets to the motors.
 */
static inline int hd_thread_start(pthread_t *thread, void *(*run)(void *), void *argument, void *stack) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t quiet, before;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    sigfillset(&quiet);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) sigdelset(&quiet, faults[i]);
    error = pthread_attr_setstack(&attributes, stack, HD_STACK_BYTES);
    if (!error) error = pthread_sigmask(SIG_SETMASK, &quiet, &before);
    if (!error) {
        error = pthread_create(thread, &attributes, run, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

#endif
