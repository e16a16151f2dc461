/* Stress of one client's page: `local_page_stress RECORDS`, until so many were seen. A thread writes records as hapticd_local.h does, the other reads them as the loop does.
 *
 * All numbers of a record follow from its sequence. Prints: reads, records seen, torn ones, ones that ran backwards, looks without a whole record.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "local/hapticd_local.h"
#include "local/page_read.h"

static hapticd_local_page page;
static uint64_t ended;

static void *write_records(void *unused) {
    hapticd_local client;
    (void)unused;
    memset(&client, 0, sizeof client);
    client.page = &page;
    while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
        double points[4][3];
        for (int i = 0; i < 12; i++) points[i / 3][i % 3] = (double)(client.next[3] + 1) * (i + 1);
        hapticd_local_command(&client, 3, (uint32_t)(client.next[3] + 1), 15, (const double(*)[3])points);
    }
    return NULL;
}

int main(int count, char **words) {
    const uint64_t wanted = count > 1 ? (uint64_t)atol(words[1]) : 1000;
    long reads = 0;
    const double largest[4] = {1e300, 1e300, 1e300, 1e300};
    uint64_t taken = 0, seen = 0, torn = 0, backwards = 0, missed = 0;
    pthread_t writer;
    if (pthread_create(&writer, NULL, write_records, NULL) != 0) return 1;
    while (seen < wanted) {
        hapticd_local_record record;
        const uint64_t sequence = hd_local_copy(&page.devices[3], &record);
        /* On one processor the writer needs a turn. */
        if (++reads % 256 == 0) sched_yield();
        if (sequence == 0) {
            missed++;
            continue;
        }
        if (sequence == taken) continue;
        if (sequence < taken) backwards++;
        if (hd_local_refusal(&record, sequence, taken, (uint32_t)sequence, largest, 4) != HAPTICD_LOCAL_TAKEN) torn++;
        for (int i = 0; i < 12; i++) torn += record.set_points[i / 3][i % 3] != (double)sequence * (i + 1);
        taken = sequence;
        seen++;
    }
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
    pthread_join(writer, NULL);
    printf("%ld %llu %llu %llu %llu\n", reads, (unsigned long long)seen, (unsigned long long)torn, (unsigned long long)backwards,
           (unsigned long long)missed);
    return 0;
}
