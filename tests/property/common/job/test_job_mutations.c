/* Jobs mutated at random: the parser must not crash, leak or accept an invalid job, and a refusal
 * must name a place. Deterministic: the seed is fixed, no false alarms. */

#include "job/job.h"

#include "config/config.h"
#include "support/job_text.h"
#include "support/job_valid.h"
#include "task/losses/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096, MUTATED_JOBS = 20000 };

/* xorshift64*, for reproducible choices only. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static size_t below(uint64_t *state, size_t count)
{
    return (size_t)(next(state) % count);
}

/* Replaces `cut` bytes at `at` by a piece. */
static void splice(char *text, size_t at, size_t cut, const char *piece)
{
    size_t length = strlen(text);
    size_t added = strlen(piece);
    cut = cut < length - at ? cut : length - at;
    if (length - cut + added + 1 > TEXT_MAX) {
        return;
    }
    memmove(text + at + added, text + at + cut, length - at - cut + 1);
    memcpy(text + at, piece, added);
}

static void mutate(char *text, uint64_t *state)
{
    static const char *const piece[] = {
        "",       "0",     "-",   "1e9",      "nan",  "[",          "]",   "{",
        "}",      ":",     ", ",  "\n",       " ",    "  - ",       "#",   "&a ",
        "*a",     "!!int", "~",   "\"",       "1,5",  "true",       "fit", "hinge",
        "losses", "0.3",   "age", "zero_one", "-0.5", "9999999999", "\t",  "\xff"};
    char copied[64] = {0};
    size_t length = strlen(text);
    size_t at = below(state, length);
    size_t from = below(state, length);
    size_t count = below(state, sizeof copied - 1);
    switch (below(state, 4)) {
    case 0:
        splice(text, at, below(state, 4), piece[below(state, sizeof piece / sizeof piece[0])]);
        break;
    case 1:
        splice(text, at, below(state, 40), "");
        break;
    case 2:
        (void)snprintf(copied, count + 1, "%s", text + from);
        splice(text, at, below(state, 20), copied);
        break;
    default:
        /* A digit for a digit: most of these stay valid. */
        at = strcspn(text + at, "0123456789") + at;
        if (text[at] != '\0') {
            text[at] = (char)('0' + below(state, 10));
        }
        break;
    }
}

/* Answers whether a refusal begins with the place "job.yml:LINE:COLUMN: ". */
static bool names_a_place(const char *message)
{
    unsigned line = 0;
    unsigned column = 0;
    int used = 0;
    return sscanf(message, "job.yml:%u:%u: %n", &line, &column, &used) == 2 && used > 0 &&
           line >= 1 && column >= 1 && message[used] != '\0';
}

static const char answers_text[] =
    "hedgerow: 1\n"
    "job: trial\n"
    "data:\n"
    "  label: {column: bill, centre: 100, half_width: 50}\n"
    "  features:\n"
    "    - {column: age, centre: 74, half_width: 24}\n"
    "    - {column: sex, categories: [F, M, X], missing: X}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: central, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 3, records: 500, join_deadline_s: 60, deadline_s: 30}\n"
    "stages:\n"
    "  - {task: statistics, lambdas: [0.1, 0.2], batch: 99, share: 0.4, grid_bits: 10,\n"
    "     experts: {shifts: [0.5]}}\n"
    "  - {task: predict, loss: squared, lambdas: [0.5], share: 0.4, grid_bits: 10,\n"
    "     kernel: {kind: polynomial, degree: 2, offset: 1}, points: [[70, F], [50, M]],\n"
    "     map: {kind: nystrom, kernel: gaussian, gamma: 2, landmarks: [[60, F], [80, X]]}}\n";

Test(job_mutations, are_refused_with_a_place_or_are_valid)
{
    uint64_t state = UINT64_C(20240611);
    unsigned accepted = 0;
    for (unsigned i = 0; i < MUTATED_JOBS; i++) {
        char text[TEXT_MAX];
        struct job job;
        struct why why = {{0}};
        (void)snprintf(text, sizeof text, "%s", i % 3 == 0 ? answers_text : job_text);
        for (size_t n = 1 + below(&state, 4); n > 0; n--) {
            mutate(text, &state);
        }
        enum status status = job_parse(&job, (struct slice){text, strlen(text)}, "job.yml", &why);
        if (status == STATUS_OK) {
            accepted++;
            cr_assert(job_is_valid(&job), "let through:\n%s", text);
        } else {
            cr_assert(status == STATUS_INVALID || status == STATUS_UNSUPPORTED);
            cr_assert(names_a_place(why.text), "%s\nfor\n%s", why.text, text);
        }
        job_free(&job);
    }
    cr_assert_gt(accepted, MUTATED_JOBS / 50, "the mutations are too wild to tell anything");
    cr_assert_lt(accepted, MUTATED_JOBS / 2, "the mutations are too tame to tell anything");
}

/* Planted: the judge refuses each wrong job that a careless parser would accept.
 */
Test(job_mutations, the_judge_condemns_planted_faults)
{
    for (unsigned fault = 0; fault < 8; fault++) {
        struct job job;
        cr_assert_eq(job_parse(&job, (struct slice){job_text, strlen(job_text)}, "", NULL),
                     STATUS_OK);
        cr_assert(job_is_valid(&job));
        switch (fault) {
        case 0:
            job.stage[1].charge.epsilon_micro = 200003; /* shares above 1 */
            break;
        case 1:
            job.stage[0].charge.epsilon_micro = 0; /* less than a millionth per lambda */
            break;
        case 2:
            job.stage[0].loss.kind = LOSS_ZERO_ONE;
            break;
        case 3:
            job.schema.column[0].half_width = 0;
            break;
        case 4:
            memcpy(job.schema.column[1].name, "age", 4);
            break;
        case 5:
            memcpy(job.schema.column[1].name, "death", 6);
            break;
        case 6:
            job.cohort_min = 0;
            break;
        default:
            job.stage[0].task = TASK_LOSSES; /* before any fit */
            job.stage[0].own = calloc(1, sizeof(struct losses_stage));
            break;
        }
        cr_assert_not(job_is_valid(&job), "fault %u", fault);
        job_free(&job);
    }
}

/* --set with random paths and values: the result parses or is refused, and nothing else breaks. */
Test(job_mutations, of_one_value_by_override_keep_the_text_yaml)
{
    static const char *const path[] = {"privacy.epsilon",         "privacy.delta",
                                       "stages.0.share",          "stages[1].share",
                                       "stages.0.lambdas",        "stages.1.batch",
                                       "cohort.minimum",          "data.features.1.categories",
                                       "data.features.0.missing", "job",
                                       "stages.0.experts.own",    "stages.9.share"};
    static const char *const value[] = {"0.1",  "[1, 2]", "{a: b}", "\"x\"",  "x",   "1,5",
                                        "a: b", "}",      "]",      "- 1",    "~",   "true",
                                        "'",    "1e-3",   "100",    "[F, M]", "&x y"};
    unsigned parsed = 0;
    for (size_t p = 0; p < sizeof path / sizeof path[0]; p++) {
        for (size_t v = 0; v < sizeof value / sizeof value[0]; v++) {
            char assignment[128];
            char *out = NULL;
            size_t size = 0;
            struct job job;
            struct why why = {{0}};
            (void)snprintf(assignment, sizeof assignment, "%s=%s", path[p], value[v]);
            if (config_override(&out, &size, (struct slice){job_text, strlen(job_text)}, "job.yml",
                                assignment, &why) != STATUS_OK) {
                cr_assert_eq(strncmp(why.text, "--set ", 6), 0, "%s", why.text);
                continue;
            }
            enum status status = job_parse(&job, (struct slice){out, size}, "job.yml", &why);
            cr_assert(status == STATUS_OK ? job_is_valid(&job) : names_a_place(why.text));
            parsed += status == STATUS_OK ? 1 : 0;
            job_free(&job);
            free(out);
        }
    }
    cr_assert_gt(parsed, 5);
}
