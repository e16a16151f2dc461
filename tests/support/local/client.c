/* Test client of the shared memory: `client STATE_DIR MODE [NUMBER]`. It prints a word when it has come to a point, and goes on until it is killed.
 *
 * push N     command a force of N newton along z in each tick, "pushing" once one was taken
 * once N     command it once, "pushing" once it was taken, then do nothing
 * half N     as push, then leave a half-written record and stand still: "half"
 * nan        command NaN in each tick, "refused" once some were refused
 * scribble   overwrite its whole page with changing bytes at full speed, "scribbling"
 * shrink     try to shorten, empty and map the memory: "kept", or a word that says what went through
 * hold N     hold the position 0 0 N, "holding" once it is in force
 * wait       command nothing: "waiting", "ended" once the session has
 */
#ifdef NDEBUG
#undef NDEBUG
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "hapticd_local.h"

static void say(const char *word) {
    puts(word);
    fflush(stdout);
}

static const hapticd_local_answer *answer_of(const hapticd_local *c, int device) { return &c->states->seats[c->seat].devices[device]; }

static void command(hapticd_local *c, int device, unsigned commands, double x, double z) {
    hapticd_local_state state;
    double points[4][3];
    int i;
    for (i = 0; i < 4; i++) {
        points[i][0] = x;
        points[i][1] = 0;
        points[i][2] = z;
    }
    if (hapticd_local_read(c, device, &state)) hapticd_local_command(c, device, state.generation, commands, (const double(*)[3])points);
}

static int taken(const hapticd_local *c, int device) { return __atomic_load_n(&answer_of(c, device)->taken, __ATOMIC_ACQUIRE) > 0; }

static void scribble(hapticd_local *c) {
    uint64_t *words = (uint64_t *)c->page;
    uint64_t x = 88172645463325252ull;
    size_t i;
    for (;;)
        for (i = 0; i < sizeof *c->page / 8; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            /* Now and then what could pass for a record. */
            __atomic_store_n(&words[i], x & 1u ? x : x & 0xff00u ? 0x4024000000000000ull : x & 0xffu, __ATOMIC_RELAXED);
        }
}

int main(int count, char **words) {
    const char *mode = count > 2 ? words[2] : "";
    const double number = count > 3 ? atof(words[3]) : 0;
    const unsigned all = 15;
    hapticd_local client;
    int device, said = 0;
    if (count < 3 || hapticd_local_open(&client, words[1], mode, NULL, all) != 0) {
        say(count < 3 ? "usage" : client.error);
        return 1;
    }
    while ((device = hapticd_local_find(&client, NULL)) < 0)
        if (hapticd_local_wait(&client, 1000000000) < 0) return 1;
    if (!strcmp(mode, "shrink")) {
        /* The descriptors are closed: what is left is the memory itself. */
        if (madvise((void *)client.page, 4096, MADV_REMOVE) == 0) say("emptied");
        else if (mprotect((void *)(uintptr_t)client.states, 4096, PROT_READ | PROT_WRITE) == 0) say("writable");
        else say("kept");
        pause();
    }
    if (!strcmp(mode, "scribble")) {
        command(&client, device, HAPTICD_LOCAL_FORCE, 0, 0);
        say("scribbling");
        scribble(&client);
    }
    if (!strcmp(mode, "once")) command(&client, device, HAPTICD_LOCAL_FORCE, 0, number);
    if (!strcmp(mode, "wait")) say("waiting");
    for (;;) {
        const int waited = hapticd_local_wait(&client, 1000000000);
        if (waited < 0) {
            say("ended");
            return 0;
        }
        if (!strcmp(mode, "push") || !strcmp(mode, "half")) command(&client, device, HAPTICD_LOCAL_FORCE, 0, number);
        if (!strcmp(mode, "hold")) command(&client, device, HAPTICD_LOCAL_POSITION, 0, number);
        if (!strcmp(mode, "nan")) command(&client, device, HAPTICD_LOCAL_FORCE, 0, NAN);
        if (!said && !strcmp(mode, "nan") && __atomic_load_n(&answer_of(&client, device)->refused, __ATOMIC_ACQUIRE) > 3) {
            said = 1;
            say("refused");
        }
        if (!said && !strcmp(mode, "hold") && answer_of(&client, device)->in_force == HAPTICD_LOCAL_POSITION) {
            said = 1;
            say("holding");
        }
        if (!said && (!strcmp(mode, "push") || !strcmp(mode, "once")) && taken(&client, device)) {
            said = 1;
            say("pushing");
        }
        if (!strcmp(mode, "half") && taken(&client, device)) {
            hapticd_local_cell *cell = &client.page->devices[device];
            cell->records[(client.next[device] + 1) % HAPTICD_LOCAL_PLACES].sequence = client.next[device] + 1;
            cell->records[(client.next[device] + 1) % HAPTICD_LOCAL_PLACES].set_points[0][2] = 1e5;
            say("half");
            pause();
        }
    }
}
