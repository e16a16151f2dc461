/* Handler of fatal signals: every open port gets its prepared zero packet before the process ends.
 *
 * SIGSEGV, SIGBUS, SIGFPE and SIGABRT in any thread. The handler writes the packets, calls the previous handler
 * (faulthandler prints the stacks), writes them again, because other threads ran on meanwhile, and lets the default action follow.
 * It uses async-signal-safe calls only and little stack (the thread's alternate one, if any), and waits for full ports
 * HD_PACKET_ROUNDS * HD_PACKET_ROUND_MS at most each time.
 *
 * A process has one set of signal handlers, hence one table. The GIL serialises changes to it; the handler may interrupt
 * them at any instruction.
 */
#ifndef HAPTICD_FATAL_SIGNAL_H
#define HAPTICD_FATAL_SIGNAL_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define HD_PACKETS 64
#define HD_PACKET_BYTES 256
#define HD_PACKET_ROUNDS 10
#define HD_PACKET_ROUND_MS 10
#define HD_OTHER_THREAD_ROUNDS 200

/* `open` is the descriptor plus one; 0 = free. The packet is complete before `open` is set; `sent` is the handler's. */
typedef struct {
    uint32_t open;
    uint32_t length;
    uint32_t sent;
    unsigned char packet[HD_PACKET_BYTES];
} hd_packet;

static hd_packet hd_packets[HD_PACKETS];
static uint32_t hd_fatal_begun;
static pthread_t hd_fatal_thread;
static int hd_fatal_number;
static const int hd_fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
#define HD_FATAL_SIGNALS ((int)(sizeof hd_fatal_signals / sizeof hd_fatal_signals[0]))
static struct sigaction hd_fatal_before[sizeof hd_fatal_signals / sizeof hd_fatal_signals[0]];

/* Return the descriptor of an entry; -1 = free. */
static inline int hd_packet_descriptor(const hd_packet *entry) {
    return (int)__atomic_load_n(&entry->open, __ATOMIC_ACQUIRE) - 1;
}

/* Remove a descriptor from every entry except one (NULL: from all). */
static inline void hd_packets_forget(int descriptor, const hd_packet *except) {
    for (int i = 0; i < HD_PACKETS; i++)
        if (&hd_packets[i] != except && hd_packet_descriptor(&hd_packets[i]) == descriptor)
            __atomic_store_n(&hd_packets[i].open, 0, __ATOMIC_RELEASE);
}

/* Prepare a packet for a descriptor; an earlier one stays until the new one is complete. 0 when the table is full. */
static inline int hd_packets_put(int descriptor, const void *packet, size_t length) {
    hd_packet *entry = NULL;
    for (int i = 0; i < HD_PACKETS && entry == NULL; i++)
        if (hd_packet_descriptor(&hd_packets[i]) < 0) entry = &hd_packets[i];
    if (entry == NULL) return 0;
    memcpy(entry->packet, packet, length);
    entry->length = (uint32_t)length;
    entry->sent = 0;
    __atomic_store_n(&entry->open, (uint32_t)descriptor + 1, __ATOMIC_RELEASE);
    hd_packets_forget(descriptor, entry);
    return 1;
}

/* Write the rest of a packet; 1 when some of it is still to be written. */
static inline int hd_packet_write(hd_packet *entry, int descriptor) {
    while (entry->sent < entry->length) {
        ssize_t n = write(descriptor, entry->packet + entry->sent, entry->length - entry->sent);
        if (n > 0) entry->sent += (uint32_t)n;
        else if (n < 0 && errno == EINTR) continue;
        else return n < 0 && errno == EAGAIN;
    }
    return 0;
}

/* Write every packet once; wait for all full ports together. */
static void hd_packets_write(void) {
    struct pollfd full[HD_PACKETS];
    hd_packet *waiting[HD_PACKETS];
    nfds_t count = 0;
    for (int i = 0; i < HD_PACKETS; i++) {
        int descriptor = hd_packet_descriptor(&hd_packets[i]);
        if (descriptor < 0) continue;
        int flags = fcntl(descriptor, F_GETFL);
        if (flags >= 0) fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
        if (hd_packets[i].sent == hd_packets[i].length) hd_packets[i].sent = 0;
        if (!hd_packet_write(&hd_packets[i], descriptor)) continue;
        waiting[count] = &hd_packets[i];
        full[count].fd = descriptor;
        full[count].events = POLLOUT;
        count++;
    }
    for (int round = 0; count > 0 && round < HD_PACKET_ROUNDS; round++) {
        nfds_t left = 0;
        poll(full, count, HD_PACKET_ROUND_MS);
        for (nfds_t i = 0; i < count; i++) {
            if (!hd_packet_write(waiting[i], full[i].fd)) continue;
            waiting[left] = waiting[i];
            full[left] = full[i];
            left++;
        }
        count = left;
    }
}

/* Unblock the fatal signals for the calling thread. */
static void hd_fatal_unblock(void) {
    sigset_t fatal;
    sigemptyset(&fatal);
    for (int i = 0; i < HD_FATAL_SIGNALS; i++) sigaddset(&fatal, hd_fatal_signals[i]);
    pthread_sigmask(SIG_UNBLOCK, &fatal, NULL);
}

/* Call the previous handler; it may return, raise the signal again, or fault itself. */
static void hd_fatal_call_previous(int number, siginfo_t *info, void *context) {
    int i = 0;
    while (hd_fatal_signals[i] != number) i++;
    hd_fatal_unblock();
    if (hd_fatal_before[i].sa_flags & SA_SIGINFO) hd_fatal_before[i].sa_sigaction(number, info, context);
    else if (hd_fatal_before[i].sa_handler != SIG_DFL && hd_fatal_before[i].sa_handler != SIG_IGN)
        hd_fatal_before[i].sa_handler(number);
}

static void hd_fatal_handler(int number, siginfo_t *info, void *context) {
    struct sigaction plain;
    if (!__atomic_exchange_n(&hd_fatal_begun, 1, __ATOMIC_ACQ_REL)) {
        hd_fatal_thread = pthread_self();
        hd_fatal_number = number;
        hd_packets_write();
        hd_fatal_call_previous(number, info, context);
    } else if (!pthread_equal(hd_fatal_thread, pthread_self())) {
        /* Another thread writes the packets and then ends the process: ending it here would cut them short. */
        for (int round = 0; round < HD_OTHER_THREAD_ROUNDS; round++) poll(NULL, 0, HD_PACKET_ROUND_MS);
    }
    if (pthread_equal(hd_fatal_thread, pthread_self())) hd_packets_write();
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    sigaction(hd_fatal_number, &plain, NULL);
    hd_fatal_unblock();
    raise(hd_fatal_number);
}

/* Install the handler in front of the present ones, unless it is installed already; return 0 or an errno.
 *
 * faulthandler restores the handler installed before it while it prints, then raises the signal again. Where that is this handler
 * too, neither that signal nor a fault of another thread ends the process before the second packets are written.
 */
static inline int hd_fatal_install(void) {
    struct sigaction ours, present;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = hd_fatal_handler;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&ours.sa_mask);
    for (int i = 0; i < HD_FATAL_SIGNALS; i++) {
        if (sigaction(hd_fatal_signals[i], NULL, &present) != 0) return errno;
        if ((present.sa_flags & SA_SIGINFO) && present.sa_sigaction == hd_fatal_handler) continue;
        hd_fatal_before[i] = present;
        if (sigaction(hd_fatal_signals[i], &ours, NULL) != 0) return errno;
    }
    return 0;
}

#endif
