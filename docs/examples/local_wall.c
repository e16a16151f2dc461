/* A wall at 1 kHz and above, for a program on the service's machine: `cc -O2 -I PATH local_wall.c -o local_wall && ./local_wall STATE_DIR [DEVICE_ID]`.
 *
 * PATH is the folder of hapticd_local.h; docs/local.md says where that is. The wall is a floor through the place at which the program starts.
 */
#include <signal.h>
#include <stdio.h>

#include "hapticd_local.h"

#define STIFFNESS 400.0 /* N/m */
#define DAMPING 2.0     /* N.s/m */
#define DEPTH 0.01      /* m below the place of the start */

static volatile sig_atomic_t stopped;

static void stop(int number) {
    (void)number;
    stopped = 1;
}

int main(int count, char **words) {
    hapticd_local client;
    hapticd_local_state state;
    double floor = 0;
    uint32_t generation = 0;
    int device;
    if (count < 2) {
        fprintf(stderr, "usage: %s STATE_DIR [DEVICE_ID]\n", words[0]);
        return 2;
    }
    if (hapticd_local_open(&client, words[1], "local wall", NULL, HAPTICD_LOCAL_FORCE) != 0) {
        fprintf(stderr, "%s\n", client.error);
        return 1;
    }
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    while ((device = hapticd_local_find(&client, count > 2 ? words[2] : NULL)) < 0)
        if (stopped || hapticd_local_wait(&client, 100000000) < 0) return 1;
    while (!stopped) {
        double force[3] = {0, 0, 0}, depth;
        int waited = hapticd_local_wait(&client, 100000000);
        if (waited < 0) break; /* the session has ended */
        if (waited == 0 || !hapticd_local_read(&client, device, &state)) continue;
        if (state.generation != generation) { /* another device has this slot now: its floor is elsewhere */
            generation = state.generation;
            floor = state.position[2] - DEPTH;
            printf("floor at %.3f m\n", floor);
            fflush(stdout);
        }
        depth = floor - state.position[2];
        if (depth > 0) {
            force[2] = STIFFNESS * depth - DAMPING * state.velocity[2];
            if (force[2] < 0) force[2] = 0; /* a wall does not pull */
        }
        hapticd_local_force(&client, device, state.generation, force);
    }
    hapticd_local_close(&client);
    return 0;
}
