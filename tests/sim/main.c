/* sim - runs the real machines in a world with faults of all kinds, once for each seed.
 *
 *     sim [--seed N] [--count N] [--verbose]     seeds N, N+1, ...; a failing one is printed
 *     sim --seeds FILE                           the seeds of a file, one in a line
 *     sim --shared ...                           several coordinators share each job
 *     sim --collected ...                        and some of them collect: each has agents of its own
 *     sim --planted NAME|all [--count N]         the checkers must notice a wrong program within N seeds
 *
 * Exit code: 0 when nothing failed (planted: when everything was noticed), 1 otherwise, 2 for
 * usage. */

#include "sim/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TALLY_SEEDS = 500 };

struct request {
    uint64_t seed;
    uint64_t count;
    bool verbose;
    bool shared;
    bool collected;
    const char *seeds;
    const char *planted;
};

/* The agents begin with the journals that an earlier run of the same text left them. */
static void inherit(struct world *world, struct world *earlier)
{
    for (size_t i = 1; i <= SIM_AGENTS; i++) {
        struct node *node = &world->node[i];
        memory_journal_free(&node->own);
        node->own = earlier->node[i].own;
        memory_journal_init(&earlier->node[i].own);
        for (uint64_t sequence = 1; sequence <= node->own.count; sequence++) {
            const struct memory_record *record = &node->own.record[sequence - 1];
            checker_on_durable(world, node,
                               (struct slice){.data = record->body, .size = record->body_size},
                               (struct slice){.data = record->blob, .size = record->blob_size});
        }
    }
    network_keep(world, earlier);
}

static void add_tally(struct tally *total, const struct tally *tally)
{
#define TALLY_ADD(name) total->name += tally->name;
    TALLY_LIST(TALLY_ADD)
    TALLY_SHARED_LIST(TALLY_ADD)
    TALLY_COLLECTED_LIST(TALLY_ADD)
    TALLY_ADD(parts_refused)
#undef TALLY_ADD
}

/* Prints what happened; returns whether everything that can happen did. */
static bool tell_tally(const struct tally *tally, bool shared, bool collected)
{
    bool all = true;
#define TALLY_TELL(name)                                                                           \
    printf("  %-22s %" PRIu64 "\n", #name, tally->name);                                           \
    all = all && tally->name > 0;
    if (collected) { /* of one trust alone */
        TALLY_COLLECTED_LIST(TALLY_TELL)
        printf("  %-22s %" PRIu64 "\n", "parts_refused", tally->parts_refused);
    } else {
        TALLY_LIST(TALLY_TELL)
    }
    if (shared || collected) {
        TALLY_SHARED_LIST(TALLY_TELL)
    }
#undef TALLY_TELL
    return all;
}

/* Returns whether the run went as it should; text (FAILURE_BYTES) receives why not. */
static bool run(struct tally *tally, char *text, uint64_t seed, enum planted planted,
                const struct request *arguments)
{
    const bool verbose = arguments->verbose;
    static struct world earlier;
    static struct world world;
    struct plan calm;
    struct plan plan;
    plan_draw(&plan, seed, planted);
    if (arguments->collected || planted >= PLANTED_PART_BENT) {
        plan_collect(&plan);
    } else if (arguments->shared || planted >= PLANTED_NO_FENCE) {
        plan_share(&plan);
    }
    plan_calm(&calm, seed);
    calm.trial = plan.trial;
    calm.local = plan.local;
    calm.joined = plan.joined;
    calm.doubling = plan.doubling;
    calm.cohort_min = plan.cohort_min; /* what the games are made for, and charged */
    world_init(&world, &plan, verbose);
    if (plan.earlier) {
        world_init(&earlier, &calm, false);
        world_run(&earlier);
        if (earlier.failure[0] != '\0') {
            world_fail(&world, "undisturbed: %s", earlier.failure);
        }
        inherit(&world, &earlier);
        world_free(&earlier);
    }
    world_run(&world);
    memcpy(text, world.failure, FAILURE_BYTES);
    add_tally(tally, &world.tally);
    world_free(&world);
    return text[0] == '\0';
}

static bool run_and_tell(struct tally *tally, uint64_t seed, const struct request *arguments)
{
    char text[FAILURE_BYTES];
    bool good = run(tally, text, seed, PLANTED_NOTHING, arguments);
    if (!good) {
        printf("seed %" PRIu64 ": %s\n", seed, text);
        (void)fflush(stdout);
    }
    return good;
}

static int run_seeds(const struct request *arguments)
{
    uint64_t failed = 0;
    struct tally tally = {0};
    for (uint64_t i = 0; i < arguments->count; i++) {
        failed += !run_and_tell(&tally, arguments->seed + i, arguments);
    }
    printf("%" PRIu64 " seeds from %" PRIu64 ": %" PRIu64 " failed\n", arguments->count,
           arguments->seed, failed);
    if (arguments->count >= TALLY_SEEDS &&
        !tell_tally(&tally, arguments->shared, arguments->collected)) {
        printf("something that can go wrong never did\n");
        return 1;
    }
    return failed > 0;
}

static int run_file(const struct request *arguments)
{
    char line[64];
    uint64_t failed = 0;
    uint64_t count = 0;
    struct tally tally = {0};
    FILE *file = fopen(arguments->seeds, "r");
    if (file == NULL) {
        fprintf(stderr, "sim: cannot read %s\n", arguments->seeds);
        return 2;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char *end = NULL;
        uint64_t seed = strtoull(line, &end, 10);
        if (end != line) {
            failed += !run_and_tell(&tally, seed, arguments);
            count++;
        }
    }
    fclose(file);
    printf("%" PRIu64 " seeds that failed once: %" PRIu64 " failed\n", count, failed);
    return failed > 0;
}

static int run_planted(const struct request *arguments)
{
    char text[FAILURE_BYTES];
    struct tally tally = {0};
    int missed = 0;
    for (int i = PLANTED_NOTHING + 1; i < PLANTED_COUNT; i++) {
        enum planted planted = (enum planted)i;
        uint64_t seed = arguments->seed;
        if (strcmp(arguments->planted, "all") != 0 &&
            strcmp(arguments->planted, planted_name(planted)) != 0) {
            continue;
        }
        while (seed < arguments->seed + arguments->count &&
               run(&tally, text, seed, planted, arguments)) {
            seed++;
        }
        bool noticed = seed < arguments->seed + arguments->count;
        printf("%-20s %s%" PRIu64 ": %s\n", planted_name(planted),
               noticed ? "noticed at seed " : "NOT noticed up to seed ", seed, noticed ? text : "");
        missed += !noticed;
    }
    return missed > 0;
}

static bool read_arguments(struct request *arguments, int count, char **text)
{
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? text[i + 1] : "";
        if (strcmp(text[i], "--verbose") == 0) {
            arguments->verbose = true;
            continue;
        }
        if (strcmp(text[i], "--shared") == 0) {
            arguments->shared = true;
            continue;
        }
        if (strcmp(text[i], "--collected") == 0) {
            arguments->collected = true;
            continue;
        }
        if (strcmp(text[i], "--seed") == 0) {
            arguments->seed = strtoull(value, NULL, 10);
        } else if (strcmp(text[i], "--count") == 0) {
            arguments->count = strtoull(value, NULL, 10);
        } else if (strcmp(text[i], "--seeds") == 0) {
            arguments->seeds = value;
        } else if (strcmp(text[i], "--planted") == 0) {
            arguments->planted = value;
        } else {
            return false;
        }
        i++;
    }
    return true;
}

int main(int count, char **text)
{
    struct request arguments = {.seed = 1, .count = 1};
    if (!read_arguments(&arguments, count, text)) {
        fprintf(
            stderr,
            "usage: sim [--seed N] [--count N] [--shared|--collected] [--verbose] [--seeds FILE]"
            " [--planted NAME|all]\n");
        return 2;
    }
    if (arguments.planted != NULL) {
        return run_planted(&arguments);
    }
    return arguments.seeds != NULL ? run_file(&arguments) : run_seeds(&arguments);
}
