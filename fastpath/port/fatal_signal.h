/* Last words: when a fatal signal ends the process, every open port first gets its prepared zero packet.
 *
 * SIGSEGV, SIGBUS, SIGFPE and SIGABRT in any thread. The handler writes, hands over to the handler that stood before
 * (faulthandler prints the stacks), writes again, because other threads went on meanwhile, and the default action follows.
 * It uses async-signal-safe calls only, little stack (an alternate one where the thread has it), and waits for full ports
 * HD_WORDS_ROUNDS * HD_WORDS_ROUND_MS at most each time.
 *
 * A process has one set of signal handlers, hence one table. Changes to it take turns (the GIL); the handler may come at
 * any instruction of theirs.
 */
#ifndef HAPTICD_LAST_WORDS_H
#define HAPTICD_LAST_WORDS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define HD_WORDS 64
#define HD_WORD_BYTES 256
#define HD_WORDS_ROUNDS 10
#define HD_WORDS_ROUND_MS 10
#define HD_WORDS_OTHER_ROUNDS 200

/* `open` is the descriptor plus one; 0 = free. The packet is whole before `open` says so; `sent` is the handler's. */
typedef struct {
    uint32_t open;
    uint32_t length;
    uint32_t sent;
    unsigned char packet[HD_WORD_BYTES];
} hd_word;

static hd_word hd_words[HD_WORDS];
static uint32_t hd_words_said;
static pthread_t hd_words_speaker;
static int hd_words_number;
static const int hd_words_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
#define HD_WORDS_SIGNALS ((int)(sizeof hd_words_signals / sizeof hd_words_signals[0]))
static struct sigaction hd_words_before[sizeof hd_words_signals / sizeof hd_words_signals[0]];

/* Descriptor of an entry; -1 = free. */
static inline int hd_word_descriptor(const hd_word *word) {
    return (int)__atomic_load_n(&word->open, __ATOMIC_ACQUIRE) - 1;
}

/* Forget a descriptor in every entry but one (NULL: in every entry). */
static inline void hd_words_forget(int descriptor, const hd_word *except) {
    for (int i = 0; i < HD_WORDS; i++)
        if (&hd_words[i] != except && hd_word_descriptor(&hd_words[i]) == descriptor)
            __atomic_store_n(&hd_words[i].open, 0, __ATOMIC_RELEASE);
}

/* Prepare a packet for a descriptor in place of an earlier one, without an instant between; 0 when the table is full. */
static inline int hd_words_put(int descriptor, const void *packet, size_t length) {
    hd_word *word = NULL;
    for (int i = 0; i < HD_WORDS && word == NULL; i++)
        if (hd_word_descriptor(&hd_words[i]) < 0) word = &hd_words[i];
    if (word == NULL) return 0;
    memcpy(word->packet, packet, length);
    word->length = (uint32_t)length;
    word->sent = 0;
    __atomic_store_n(&word->open, (uint32_t)descriptor + 1, __ATOMIC_RELEASE);
    hd_words_forget(descriptor, word);
    return 1;
}

/* Write what is left of a packet; 1 when more of it may follow later. */
static inline int hd_word_write(hd_word *word, int descriptor) {
    while (word->sent < word->length) {
        ssize_t n = write(descriptor, word->packet + word->sent, word->length - word->sent);
        if (n > 0) word->sent += (uint32_t)n;
        else if (n < 0 && errno == EINTR) continue;
        else return n < 0 && errno == EAGAIN;
    }
    return 0;
}

/* Every packet once; ports that are full are waited for together. */
static void hd_words_say(void) {
    struct pollfd full[HD_WORDS];
    hd_word *words[HD_WORDS];
    nfds_t count = 0;
    for (int i = 0; i < HD_WORDS; i++) {
        int descriptor = hd_word_descriptor(&hd_words[i]);
        if (descriptor < 0) continue;
        int flags = fcntl(descriptor, F_GETFL);
        if (flags >= 0) fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
        if (hd_words[i].sent == hd_words[i].length) hd_words[i].sent = 0;
        if (!hd_word_write(&hd_words[i], descriptor)) continue;
        words[count] = &hd_words[i];
        full[count].fd = descriptor;
        full[count].events = POLLOUT;
        count++;
    }
    for (int round = 0; count > 0 && round < HD_WORDS_ROUNDS; round++) {
        nfds_t left = 0;
        poll(full, count, HD_WORDS_ROUND_MS);
        for (nfds_t i = 0; i < count; i++) {
            if (!hd_word_write(words[i], full[i].fd)) continue;
            words[left] = words[i];
            full[left] = full[i];
            left++;
        }
        count = left;
    }
}

/* Let the fatal signals through to the calling thread. */
static void hd_words_unblock(void) {
    sigset_t fatal;
    sigemptyset(&fatal);
    for (int i = 0; i < HD_WORDS_SIGNALS; i++) sigaddset(&fatal, hd_words_signals[i]);
    pthread_sigmask(SIG_UNBLOCK, &fatal, NULL);
}

/* What stood before us; it may come back, raise the signal again, or fault itself. */
static void hd_words_hand_over(int number, siginfo_t *info, void *context) {
    int i = 0;
    while (hd_words_signals[i] != number) i++;
    hd_words_unblock();
    if (hd_words_before[i].sa_flags & SA_SIGINFO) hd_words_before[i].sa_sigaction(number, info, context);
    else if (hd_words_before[i].sa_handler != SIG_DFL && hd_words_before[i].sa_handler != SIG_IGN)
        hd_words_before[i].sa_handler(number);
}

static void hd_words_handler(int number, siginfo_t *info, void *context) {
    struct sigaction plain;
    if (!__atomic_exchange_n(&hd_words_said, 1, __ATOMIC_ACQ_REL)) {
        hd_words_speaker = pthread_self();
        hd_words_number = number;
        hd_words_say();
        hd_words_hand_over(number, info, context);
    } else if (!pthread_equal(hd_words_speaker, pthread_self())) {
        /* Another thread speaks and then ends the process: dying first would cut it short. */
        for (int round = 0; round < HD_WORDS_OTHER_ROUNDS; round++) poll(NULL, 0, HD_WORDS_ROUND_MS);
    }
    if (pthread_equal(hd_words_speaker, pthread_self())) hd_words_say();
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    sigaction(hd_words_number, &plain, NULL);
    hd_words_unblock();
    raise(hd_words_number);
}

/* Stand before the present handlers, unless we do; 0 or an errno.
 *
 * faulthandler puts back what stood before it while it prints and then raises the signal again. Where that is this handler
 * too, neither that nor another fault meanwhile, in any thread, ends the process before the second packets are out.
 */
static inline int hd_words_install(void) {
    struct sigaction ours, present;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = hd_words_handler;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&ours.sa_mask);
    for (int i = 0; i < HD_WORDS_SIGNALS; i++) {
        if (sigaction(hd_words_signals[i], NULL, &present) != 0) return errno;
        if ((present.sa_flags & SA_SIGINFO) && present.sa_sigaction == hd_words_handler) continue;
        hd_words_before[i] = present;
        if (sigaction(hd_words_signals[i], &ours, NULL) != 0) return errno;
    }
    return 0;
}

#endif
