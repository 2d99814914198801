/* Masks: the sum that is opened under distributed trust, as the coordinator and its helpers see it. There
 * are as few survivors as may be, h honest sites and c helpers, and one site is absent. Each adds a Polya
 * or Gaussian share made for h to its own value, and its masks. The coordinator sums, removes the masks by what the
 * survivors reveal, and subtracts what the helpers tell it: their values and shares. What stays is h
 * shares, which are discrete Laplace noise, or Gaussian noise but for the sum's own delta. The record that
 * differs is an honest site's. The worst pair is that of the noise, and as tight.
 *
 * A block of runs is one round over a long vector: every run is a word of its own. */

#include "lab/audit/harness.h"

#include "crypto/key.h"
#include "dp/mechanism.h"
#include "masks/masks.h"
#include "noise/gaussian.h"
#include "noise/share.h"

#include <stdlib.h>
#include <string.h>

enum {
    HONEST = 4,
    HELPERS = 2,
    SURVIVORS = HONEST + HELPERS,
    SITES = SURVIVORS + 1,
    ROUND_WORDS = 8192
};

struct audit_masks {
    struct noise_share share;       /* of the one kind */
    struct noise_gaussian gaussian; /* or of the other */
    struct key_pair pair[SITES];
    struct masks_round round;
    struct digest seed[SITES];
    struct digest commitment[SITES];
    uint64_t number; /* of the round */
    struct digest between[SITES][SITES];
    int64_t answer[ROUND_WORDS]; /* of one site */
    uint64_t words[ROUND_WORDS];
    uint64_t sum[ROUND_WORDS];
    uint64_t told[ROUND_WORDS]; /* by helpers */
};

static void commit(const struct audit_masks *masks, struct digest *out, unsigned i)
{
    const uint8_t name = (uint8_t)i;
    masks_commit(out, &masks->round.roster, masks->number, (struct slice){&name, sizeof name},
                 &masks->seed[i]);
}

/* Fresh seeds and keys of streams, as each round has. */
static enum status begin_round(struct audit_masks *masks, const struct random *random)
{
    struct digest *invitation = &masks->round.invitation;
    enum status status = random_fill(random, invitation->byte, sizeof invitation->byte);
    masks->number++;
    for (unsigned i = 0; i < SITES && status == STATUS_OK; i++) {
        status = random_fill(random, masks->seed[i].byte, sizeof masks->seed[i].byte);
        commit(masks, &masks->commitment[i], i);
        for (unsigned j = i + 1; j < SITES && status == STATUS_OK; j++) {
            status = masks_pair_key(&masks->between[i][j], &masks->pair[i].secret_key,
                                    &masks->pair[j].public_key, i, j, &masks->round);
            masks->between[j][i] = masks->between[i][j];
        }
    }
    return status;
}

/* A site's words under all its masks. */
static enum status mask(struct audit_masks *masks, size_t count, unsigned i)
{
    struct digest self;
    enum status status = masks_self_key(&self, &masks->seed[i], &masks->round);
    if (status == STATUS_OK) {
        status = masks_add(masks->words, count, MASKS_64, &self);
    }
    for (unsigned j = 0; j < SITES && status == STATUS_OK; j++) {
        if (j != i) {
            status = (j > i ? masks_add : masks_subtract)(masks->words, count, MASKS_64,
                                                          &masks->between[i][j]);
        }
    }
    return status;
}

/* The absent sites have the last ranks, so survivors added what they share with them. */
static enum status unmask(struct audit_masks *masks, size_t count)
{
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < SURVIVORS && status == STATUS_OK; i++) {
        struct digest revealed;
        struct digest self;
        commit(masks, &revealed, i);
        status = digest_equal(&revealed, &masks->commitment[i]) ? STATUS_OK : STATUS_INVALID;
        if (status == STATUS_OK) {
            status = masks_self_key(&self, &masks->seed[i], &masks->round);
        }
        if (status == STATUS_OK) {
            status = masks_subtract(masks->sum, count, MASKS_64, &self);
        }
        for (unsigned j = SURVIVORS; j < SITES && status == STATUS_OK; j++) {
            status = masks_subtract(masks->sum, count, MASKS_64, &masks->between[i][j]);
        }
    }
    return status;
}

/* One round: sum is opened, and told is what the helpers know of it. */
static enum status play(struct audit_masks *masks, const struct random *random, int64_t value,
                        size_t count)
{
    enum status status = begin_round(masks, random);
    memset(masks->sum, 0, sizeof masks->sum);
    memset(masks->told, 0, sizeof masks->told);
    for (unsigned site = 0; site < SURVIVORS && status == STATUS_OK; site++) {
        for (size_t i = 0; i < count; i++) {
            masks->answer[i] = site == 0 ? value : 1000 * (int64_t)site;
        }
        status = masks->share.shares > 0
                     ? noise_share_add(&masks->share, random, masks->answer, count)
                     : noise_gaussian_add(&masks->gaussian, random, masks->answer, count);
        for (size_t i = 0; i < count; i++) {
            masks->words[i] = (uint64_t)masks->answer[i];
            masks->told[i] += site < HONEST ? 0 : masks->words[i];
        }
        if (status == STATUS_OK) {
            status = mask(masks, count, site);
        }
        for (size_t i = 0; i < count; i++) {
            masks->sum[i] += masks->words[i];
        }
    }
    return status == STATUS_OK ? unmask(masks, count) : status;
}

static enum status masks_draw(void *self, const struct random *random, unsigned side,
                              int64_t *score, size_t count)
{
    struct audit_harness *harness = self;
    struct audit_masks *masks = harness->masks;
    enum status status = STATUS_OK;
    for (size_t done = 0; done < count && status == STATUS_OK; done += ROUND_WORDS) {
        const size_t part = count - done < ROUND_WORDS ? count - done : ROUND_WORDS;
        status = play(masks, random, harness->value[side][0], part);
        for (size_t i = 0; i < part; i++) {
            score[done + i] = (int64_t)(masks->sum[i] - masks->told[i]);
        }
    }
    return status;
}

static enum status sit_down(struct audit_harness *harness)
{
    enum status status = STATUS_OK;
    harness->width = 1;
    harness->value[1][0] = (int64_t)harness->sensitivity;
    harness->masks = calloc(1, sizeof *harness->masks);
    if (harness->masks == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (unsigned i = 0; i < SITES && status == STATUS_OK; i++) {
        status = key_pair_generate(&harness->masks->pair[i]);
    }
    return status;
}

static enum status masks_prepare(struct audit_harness *harness, struct why *why)
{
    struct noise_scale scale;
    enum status status =
        mechanism_scale(&scale, harness->sensitivity, harness->setting.epsilon_micro, why);
    if (status == STATUS_OK) {
        status = sit_down(harness);
    }
    return status == STATUS_OK ? noise_share_init(&harness->masks->share, scale, HONEST) : status;
}

static enum status gaussian_prepare(struct audit_harness *harness, struct why *why)
{
    struct noise_scale sigma;
    enum status status = harness_set_gaussian(harness, why);
    if (status == STATUS_OK) {
        status = mechanism_sigma_of_share(&sigma, harness->sensitivity, harness->sigma_micro,
                                          HONEST, why);
    }
    if (status == STATUS_OK) {
        status = sit_down(harness);
    }
    harness->delta += (double)mechanism_sigma_delta(HONEST, 1) / (double)DELTA_ATTO_ONE;
    return status == STATUS_OK ? noise_gaussian_init(&harness->masks->gaussian, sigma) : status;
}

static void masks_release(struct audit_harness *harness)
{
    if (harness->masks != NULL) {
        noise_share_free(&harness->masks->share);
        noise_gaussian_free(&harness->masks->gaussian);
        bytes_free(harness->masks, sizeof *harness->masks);
    }
}

const struct subject_code subject_masks = {
    .subject = {.name = "masks",
                .summary =
                    "the sum of six sites' shares of noise under masks, less those of two that "
                    "help the coordinator",
                .worst = "an honest site's value moved by the sensitivity; as laplace",
                .tight = true},
    .prepare = masks_prepare,
    .draw = masks_draw,
    .release = masks_release};

const struct subject_code subject_masks_gaussian = {
    .subject = {.name = "masks-gaussian",
                .summary = "the same with shares of Gaussian noise",
                .worst = "an honest site's value moved by the sensitivity; as gaussian",
                .tight = true,
                .has_delta = true},
    .prepare = gaussian_prepare,
    .draw = masks_draw,
    .release = masks_release};
