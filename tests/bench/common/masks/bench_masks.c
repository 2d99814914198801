/* bench_masks.c - milliseconds of a masked round: keys, roster, shares of noise, masks, signatures, and the
 * opening, by the sites' and the coordinator's own code.
 *
 *     bench_masks [FOLDER]
 *
 * All sites run on this machine's processors, one site on each processor at a time. Where a row says so, every
 * site and the coordinator have a journal in FOLDER (a new one below /tmp), and commit as their programs do.
 * Messages are copies in memory; bench_rounds measures the wire. Each figure is the median of RUNS rounds; one
 * above its limit ends the program with 1. Use an idle machine. */

#include "base/check.h"
#include "crypto/digest.h"
#include "crypto/random.h"
#include "io/journal.h"
#include "masks/host.h"
#include "masks/site.h"
#include "noise/share.h"
#include "tests/support/bench_clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SITES_MAX = 32,
    RUNS = 7,
    THREADS_MAX = 8,
    PATH_BYTES = 512,
    RECORD_BYTES = 200,
    KEYS_BLOB_BYTES = 300
};

struct setting {
    size_t sites;
    size_t words;
    enum masks_width width;
    bool noise;
    bool commits;
    double limit_ms;             /* of the whole round; 0: none */
    double coordinator_limit_ms; /* of the coordinator's processor time */
};

static const struct setting settings[] = {{8, 10000, MASKS_64, false, false, 0, 0},
                                          {8, 10000, MASKS_64, true, true, 25, 0},
                                          {16, 1000000, MASKS_64, false, false, 600, 200},
                                          {16, 1000000, MASKS_32, false, false, 600, 200},
                                          {16, 1000000, MASKS_64, true, false, 1000, 200},
                                          {16, 1000000, MASKS_32, true, false, 1000, 200},
                                          {32, 1000, MASKS_64, true, true, 0, 0}};

struct bench {
    const struct setting *setting;
    struct masks_peers peers;
    struct key_pair signing[SITES_MAX];
    struct masks_self self[SITES_MAX];
    struct masks_terms terms;
    struct digest invitation;
    struct masks_site *site[SITES_MAX];
    struct masks_host *host;
    uint64_t *answer[SITES_MAX]; /* as it leaves: (words) */
    uint64_t *sum;
    uint32_t *narrow; /* the sum of 32 bits, until it is open */
    struct digest digest[SITES_MAX];
    struct random_source *source[SITES_MAX]; /* a source serves one thread at a time */
    struct random random[SITES_MAX];
    struct noise_share share[SITES_MAX];   /* as a gate keeps it from round to round */
    struct journal journal[SITES_MAX + 1]; /* the last one is the coordinator's */
    struct slice roster;
    struct slice open;
    size_t threads;
};

struct part {
    struct bench *bench;
    void (*run)(struct bench *bench, size_t site);
    size_t first;
};

static void commit(struct bench *bench, size_t who, struct slice blob)
{
    static const uint8_t record[RECORD_BYTES] = {1};
    uint64_t sequence;
    if (bench->setting->commits) {
        CHECK(bench->journal[who].append(bench->journal[who].self, &sequence,
                                         (struct slice){record, sizeof record}, blob) == STATUS_OK);
    }
}

static void *run_part(void *argument)
{
    const struct part *part = argument;
    for (size_t i = part->first; i < part->bench->setting->sites; i += part->bench->threads) {
        part->run(part->bench, i);
    }
    return NULL;
}

/* The work of every site in a leg. */
static void each(struct bench *bench, void (*run)(struct bench *bench, size_t site))
{
    pthread_t thread[THREADS_MAX];
    struct part part[THREADS_MAX];
    for (size_t i = 0; i < bench->threads; i++) {
        part[i] = (struct part){bench, run, i};
        CHECK(pthread_create(&thread[i], NULL, run_part, &part[i]) == 0);
    }
    for (size_t i = 0; i < bench->threads; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
}

static void draw_keys(struct bench *bench, size_t i)
{
    CHECK(masks_site_new(&bench->site[i], &bench->self[i], &bench->terms, &bench->invitation,
                         NULL) == STATUS_OK);
    const uint8_t secrets[KEYS_BLOB_BYTES] = {1};
    commit(bench, i, (struct slice){secrets, sizeof secrets});
}

/* Answers are zero: what is computed here does not depend on them. */
static void add_noise(struct bench *bench, size_t i)
{
    int64_t *values = calloc(bench->setting->words, sizeof *values);
    CHECK(values != NULL && noise_share_prepare(&bench->share[i], (struct noise_scale){1 << 16, 1},
                                                bench->terms.honest) == STATUS_OK);
    CHECK(noise_share_add(&bench->share[i], bench->self[i].random, values, bench->setting->words) ==
          STATUS_OK);
    memcpy(bench->answer[i], values, bench->setting->words * sizeof *values);
    free(values);
}

static void answer(struct bench *bench, size_t i)
{
    const size_t bytes = bench->setting->words * sizeof(uint64_t);
    uint8_t *packed = NULL;
    size_t size = 0;
    CHECK(masks_site_list(bench->site[i], bench->roster, NULL) == STATUS_OK);
    if (bench->setting->noise) {
        add_noise(bench, i);
    } else {
        memset(bench->answer[i], 0, bytes);
    }
    CHECK(masks_site_mask(bench->site[i], bench->answer[i], bench->setting->words) == STATUS_OK);
    const struct slice part = {bench->answer[i], bytes};
    digest_sha256(&bench->digest[i], &part, 1);
    CHECK(masks_site_pack(bench->site[i], &packed, &size) == STATUS_OK);
    uint8_t *blob = malloc(bytes + size);
    CHECK(blob != NULL);
    memcpy(blob, bench->answer[i], bytes);
    memcpy(blob + bytes, packed, size);
    commit(bench, i, (struct slice){blob, bytes + size});
    free(blob);
    free(packed);
}

static void sign(struct bench *bench, size_t i)
{
    bool again = false;
    CHECK(masks_site_note(bench->site[i], masks_host_survivors(bench->host), &again, NULL) ==
          STATUS_OK);
    commit(bench, i, (struct slice){NULL, 0});
}

static void gather(struct bench *bench)
{
    static uint8_t roster[MASKS_ROSTER_BYTES_MAX];
    for (size_t i = 0; i < bench->setting->sites; i++) {
        uint8_t keys[MASKS_KEYS_BYTES];
        masks_site_keys(bench->site[i], keys);
        CHECK(masks_host_take_keys(bench->host, masks_site_name(&bench->self[i]),
                                   (struct slice){keys, sizeof keys}, NULL) == STATUS_OK);
    }
    CHECK(masks_host_list(bench->host, NULL) == STATUS_OK);
    bench->roster =
        (struct slice){roster, masks_roster_pack(roster, masks_host_roster(bench->host))};
    commit(bench, SITES_MAX, bench->roster);
}

static bool is_narrow(const struct bench *bench)
{
    return bench->terms.width == MASKS_32;
}

/* Checks each answer's digest, sums them up and names the survivors: everybody. */
static void settle(struct bench *bench)
{
    struct masks_set survivors = {{0}};
    for (size_t i = 0; i < bench->setting->sites; i++) {
        const struct slice part = {bench->answer[i], bench->setting->words * sizeof(uint64_t)};
        struct digest digest;
        digest_sha256(&digest, &part, 1);
        CHECK(digest_equal(&digest, &bench->digest[i]));
        for (size_t w = 0; w < bench->setting->words; w++) {
            if (is_narrow(bench)) {
                bench->narrow[w] += (uint32_t)bench->answer[i][w];
            } else {
                bench->sum[w] += bench->answer[i][w];
            }
        }
        masks_set_add(&survivors, i);
    }
    CHECK(masks_host_settle(bench->host, &survivors, NULL) == STATUS_OK);
    commit(bench, SITES_MAX, (struct slice){NULL, 0});
}

static void take_signatures(struct bench *bench)
{
    static uint8_t open[MASKS_OPEN_BYTES_MAX];
    for (size_t i = 0; i < bench->setting->sites; i++) {
        struct signature signature;
        const size_t rank =
            masks_roster_rank(masks_host_roster(bench->host), masks_site_name(&bench->self[i]));
        CHECK(masks_site_sign(bench->site[i], &signature) == STATUS_OK);
        CHECK(masks_host_take_signature(
                  bench->host, rank, (struct slice){signature.byte, SIGNATURE_BYTES}) == STATUS_OK);
    }
    bench->open = (struct slice){open, masks_host_open(bench->host, open)};
}

struct reveals {
    uint8_t byte[SITES_MAX][MASKS_REVEAL_BYTES_MAX];
    size_t size[SITES_MAX];
};

static struct reveals reveals;

static void reveal(struct bench *bench, size_t i)
{
    CHECK(masks_site_reveal(bench->site[i], bench->open, reveals.byte[i], &reveals.size[i], NULL) ==
          STATUS_OK);
}

static void open_sum(struct bench *bench)
{
    for (size_t i = 0; i < bench->setting->sites; i++) {
        const size_t rank =
            masks_roster_rank(masks_host_roster(bench->host), masks_site_name(&bench->self[i]));
        CHECK(masks_host_take_reveal(
                  bench->host, rank, (struct slice){reveals.byte[i], reveals.size[i]},
                  is_narrow(bench) ? NULL : bench->sum, is_narrow(bench) ? bench->narrow : NULL,
                  bench->setting->words) == STATUS_OK);
    }
    CHECK(masks_host_is_open(bench->host));
    for (size_t w = 0; is_narrow(bench) && w < bench->setting->words; w++) {
        bench->sum[w] = (uint64_t)(int64_t)(int32_t)bench->narrow[w];
    }
    commit(bench, SITES_MAX, (struct slice){bench->sum, bench->setting->words * sizeof(uint64_t)});
}

/* The coordinator's alone: one thread, so its time is the process's. */
static double timed(void (*run)(struct bench *bench), struct bench *bench)
{
    const double start = busy_ns();
    run(bench);
    return (busy_ns() - start) / 1e6;
}

static void play(struct bench *bench, double *wall_ms, double *busy_ms, double *coordinator_ms)
{
    memset(bench->sum, 0, bench->setting->words * sizeof(uint64_t));
    memset(bench->narrow, 0, bench->setting->words * sizeof(uint32_t));
    bench->terms.round++;
    CHECK(masks_host_new(&bench->host, &bench->terms, &bench->invitation) == STATUS_OK);
    const double start = now_ns();
    const double busy = busy_ns();
    each(bench, draw_keys);
    *coordinator_ms = timed(gather, bench);
    each(bench, answer);
    *coordinator_ms += timed(settle, bench);
    each(bench, sign);
    *coordinator_ms += timed(take_signatures, bench);
    each(bench, reveal);
    *coordinator_ms += timed(open_sum, bench);
    *wall_ms = (now_ns() - start) / 1e6;
    *busy_ms = (busy_ns() - busy) / 1e6;
    bool clear = true; /* a mask that stays would be seen; noise of scale 2^16 is far below */
    for (size_t w = 0; w < bench->setting->words; w++) {
        clear = clear &&
                (bench->setting->noise ? bench->sum[w] + (UINT64_C(1) << 32) < UINT64_C(1) << 33
                                       : bench->sum[w] == 0);
    }
    CHECK(clear);
    masks_host_free(bench->host);
    for (size_t i = 0; i < bench->setting->sites; i++) {
        masks_site_free(bench->site[i]);
    }
}

static void begin(struct bench *bench, const struct setting *setting, const char *folder)
{
    memset(&bench->peers, 0, sizeof bench->peers);
    bench->setting = setting;
    bench->terms = (struct masks_terms){.sites_least = setting->sites,
                                        .dishonest = setting->sites / 4,
                                        .honest = setting->sites / 2,
                                        .width = setting->width};
    bench->sum = malloc(setting->words * sizeof(uint64_t));
    bench->narrow = malloc(setting->words * sizeof(uint32_t));
    CHECK(bench->sum != NULL && bench->narrow != NULL);
    for (size_t i = 0; i < setting->sites; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "site-%02zu", i);
        bench->source[i] = random_source_new();
        CHECK(bench->source[i] != NULL);
        bench->random[i] = random_source_interface(bench->source[i]);
        CHECK(key_signing_generate(&bench->signing[i]) == STATUS_OK);
        CHECK(masks_peers_add(&bench->peers, name, &bench->signing[i].public_key, NULL) ==
              STATUS_OK);
        bench->self[i] = (struct masks_self){&bench->peers, &bench->signing[i], &bench->random[i]};
        bench->answer[i] = malloc(setting->words * sizeof(uint64_t));
        CHECK(bench->answer[i] != NULL);
    }
    for (size_t i = 0; i <= SITES_MAX && setting->commits; i++) {
        char path[PATH_BYTES];
        (void)snprintf(path, sizeof path, "%s/%zu-%zu", folder, setting->sites, i);
        const struct journal_sqlite_options options = {.folder = path, .kind = "agent"};
        if (i < setting->sites || i == SITES_MAX) {
            CHECK(journal_sqlite_open(&bench->journal[i], &options, NULL) == STATUS_OK);
        }
    }
}

static void end(struct bench *bench)
{
    for (size_t i = 0; i < bench->setting->sites; i++) {
        free(bench->answer[i]);
        noise_share_free(&bench->share[i]);
        random_source_free(bench->source[i]);
    }
    for (size_t i = 0; i <= SITES_MAX; i++) {
        journal_close(&bench->journal[i]);
    }
    free(bench->sum);
    free(bench->narrow);
}

static bool measure(struct bench *bench, const struct setting *setting, const char *folder)
{
    double wall_ms[RUNS];
    double busy_ms[RUNS];
    double coordinator_ms[RUNS];
    begin(bench, setting, folder);
    for (size_t run = 0; run < RUNS; run++) {
        play(bench, &wall_ms[run], &busy_ms[run], &coordinator_ms[run]);
    }
    end(bench);
    qsort(wall_ms, RUNS, sizeof wall_ms[0], compare_doubles);
    qsort(busy_ms, RUNS, sizeof busy_ms[0], compare_doubles);
    qsort(coordinator_ms, RUNS, sizeof coordinator_ms[0], compare_doubles);
    const double wall = wall_ms[RUNS / 2];
    const double coordinator = coordinator_ms[RUNS / 2];
    const bool within =
        (setting->limit_ms == 0 || wall <= setting->limit_ms) &&
        (setting->coordinator_limit_ms == 0 || coordinator <= setting->coordinator_limit_ms);
    printf("%5zu %8zu %4d %-6s %-8s %9.1f (%8.1f) %6.0f %10.1f %12.1f %6.0f%s\n", setting->sites,
           setting->words, (int)setting->width, setting->noise ? "yes" : "no",
           setting->commits ? "yes" : "no", wall, wall_ms[0], setting->limit_ms, busy_ms[RUNS / 2],
           coordinator, setting->coordinator_limit_ms, within ? "" : "  ABOVE ITS LIMIT");
    return within;
}

int main(int count, char **argument)
{
    static struct bench bench;
    char folder[PATH_BYTES / 2] = "/tmp/bench_masks.XXXXXX";
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    bool within = true;
    if (count > 1) {
        (void)snprintf(folder, sizeof folder, "%s/bench_masks.XXXXXX", argument[1]);
    }
    CHECK(mkdtemp(folder) != NULL);
    bench.threads = processors < 1             ? 1
                    : processors > THREADS_MAX ? THREADS_MAX
                                               : (size_t)processors;
    printf("%zu at a time; journals in %s\n", bench.threads, folder);
    printf("%5s %8s %4s %-6s %-8s %9s (%8s) %6s %10s %12s %6s\n", "sites", "words", "bits", "noise",
           "commits", "ms", "least", "limit", "processor", "coordinator", "limit");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        within = measure(&bench, &settings[i], folder) && within;
    }
    return within ? 0 : 1;
}
