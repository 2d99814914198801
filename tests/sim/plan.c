#include "sim/plan.h"

#include "protocol/message.h"

#include <string.h>

const char *planted_name(enum planted planted)
{
    static const char *const name[PLANTED_COUNT] = {
        [PLANTED_NOTHING] = "nothing",
        [PLANTED_SEND_BEFORE_COMMIT] = "send-before-commit",
        [PLANTED_FRESH_NOISE] = "fresh-noise",
        [PLANTED_HALF_CHARGE] = "half-charge",
        [PLANTED_SHORT_WINDOW] = "short-window",
        [PLANTED_FULL_AGAIN] = "full-again",
        [PLANTED_DOUBLE_COUNT] = "double-count",
        [PLANTED_LOST_ANSWER] = "lost-answer",
        [PLANTED_OTHER_BYTES] = "other-bytes",
        [PLANTED_OUTCOME_CHANGES] = "outcome-changes",
        [PLANTED_TWO_OUTCOMES] = "two-outcomes",
        [PLANTED_RELEASE_EARLY] = "release-early",
        [PLANTED_REVOKED_COUNTS] = "revoked-counts",
        [PLANTED_MUTE] = "mute",
        [PLANTED_NOISE_TWICE] = "noise-twice",
        [PLANTED_NOISE_MISSING] = "noise-missing",
        [PLANTED_EXACT_JOURNALED] = "exact-journaled",
        [PLANTED_DIGEST_JOURNALED] = "digest-journaled",
        [PLANTED_EXACT_FREE] = "exact-free",
        [PLANTED_CURATOR_FORGETS] = "curator-forgets",
        [PLANTED_OTHER_RECORDS] = "other-records",
        [PLANTED_FORGET_EARLY] = "forget-early",
        [PLANTED_ROSTER_EARLY] = "roster-early",
        [PLANTED_SETTLE_EARLY] = "settle-early",
        [PLANTED_SIGN_EARLY] = "sign-early",
        [PLANTED_TWO_LISTS] = "two-lists",
        [PLANTED_KEYS_EARLY] = "keys-early",
        [PLANTED_TWO_KEYS] = "two-keys",
        [PLANTED_NOT_WIPED] = "not-wiped",
        [PLANTED_MASK_LOST] = "mask-lost",
        [PLANTED_NO_FENCE] = "no-fence",
        [PLANTED_RETRIED] = "retried",
        [PLANTED_READ_AGAIN] = "read-again",
        [PLANTED_PART_BENT] = "part-bent",
        [PLANTED_SETTLED_EARLY] = "settled-early",
    };
    return name[planted];
}

/* Half of all faults are absent from a run, so that rare combinations are met as well. */
static unsigned rate(struct dice *dice, unsigned most)
{
    return dice_one_in(dice, 2) ? 0 : (unsigned)(1 + dice_below(dice, most));
}

static uint32_t between(struct dice *dice, uint32_t least, uint32_t most)
{
    return least + (uint32_t)dice_below(dice, most - least + 1);
}

/* Two seeds in seven are of central trust, two in twenty-one of distributed: the seed's number decides, and not the dice, so that
 * the other seeds keep their meaning. */
static enum trial trial_of(uint64_t seed)
{
    const bool central = seed % 7 == 2 || seed % 7 == 4;
    const bool masked = seed % 7 == 6 && seed % 3 != 2;
    return central  ? (enum trial)(TRIAL_LOCAL + 1 + seed / 7 % (TRIAL_MASKED - 1))
           : masked ? TRIAL_MASKED
                    : TRIAL_LOCAL;
}

bool plan_is_central(const struct plan *plan)
{
    return plan->trial != TRIAL_LOCAL && plan->trial != TRIAL_MASKED;
}

void plan_calm(struct plan *plan, uint64_t seed)
{
    struct dice dice = {.state = seed ^ UINT64_C(0x6a09e667f3bcc908)};
    memset(plan, 0, sizeof *plan);
    plan->seed = seed;
    plan->trial = trial_of(seed);
    plan->local = seed % 14 == 8    ? LOCAL_ANSWERS
                  : seed % 28 == 15 ? LOCAL_STREAM
                  : seed % 28 == 1  ? LOCAL_SITES
                                    : LOCAL_FITS;
    plan->doubling = seed % 2 == 0;
    /* Answers and inputs are small here: in every other run they are pulled nonetheless. */
    plan->whole_bytes_max = seed * UINT64_C(0x9e3779b97f4a7c15) >> 63 != 0 ? WHOLE_BYTES_MAX : 0;
    plan->cohort_min = between(&dice, 2, 3);
    plan->deadline_s = between(&dice, 5, 20);
    plan->join_deadline_s = between(&dice, 5, 20);
    plan->patience_s = seed % 3 == 0 ? 0 : (uint32_t)(seed % 19);
    plan->settle_ms = 3600 * 1000;
    plan->slot_ms = between(&dice, 50, 500);
    plan->linger_ms = between(&dice, 3000, 8000);
    plan->delay_ms_max = 10;
    plan->work_ms_max = 30;
    plan->commit_ms_max = 5;
    plan->crash_ms_max = 1;
    plan->work_at_start = dice_one_in(&dice, 2);
    plan->patient = true;
    plan->coordinators = 1;
}

static void draw_hostility(struct plan *plan, struct dice *dice)
{
    plan->flipped = rate(dice, 50);
    plan->liar = rate(dice, 10);
    plan->mallory = rate(dice, 10);
    plan->revoke = rate(dice, 15);
}

void plan_draw(struct plan *plan, uint64_t seed, enum planted planted)
{
    struct dice dice = {.state = seed};
    plan_calm(plan, seed);
    plan->planted = planted;
    plan->faulty = true;
    plan->patient = dice_one_in(&dice, 2);
    if (planted >= PLANTED_ROSTER_EARLY && planted < PLANTED_NO_FENCE) {
        plan->trial = TRIAL_MASKED;
        plan->local = LOCAL_FITS;
    }
    if (plan->trial ==
        TRIAL_MASKED) { /* who dies before its answer is durable is not in the round: it may fail */
        plan->patient = false;
    }
    plan->earlier = dice_one_in(&dice, 4);
    plan->cohort_min = between(&dice, plan->patient ? 2 : 1, 3);
    plan->deadline_s = plan->patient ? 3600 : between(&dice, 2, 20);
    plan->join_deadline_s = plan->patient ? 3600 : between(&dice, 2, 20);
    plan->settle_ms = plan->patient ? 3600 * 1000 : (uint32_t)(seed % 5 * 1000);
    plan->linger_ms = between(&dice, 1000, 20000);
    plan->faults_end_ms = between(&dice, 500, 15000);
    plan->chaos_ms = between(&dice, 20, 400);
    plan->delay_ms_max = between(&dice, 1, 200);
    plan->work_ms_max = between(&dice, 1, 800);
    plan->commit_ms_max = between(&dice, 1, 100);
    plan->crash_ms_max = between(&dice, 1, 3000);
    plan->approved = dice_one_in(&dice, 4);
    plan->reboots = dice_one_in(&dice, 2);
    plan->lost = rate(&dice, 300);
    plan->doubled = rate(&dice, 200);
    plan->delayed = rate(&dice, 100);
    plan->cut_short = rate(&dice, 50);
    plan->journal_fails = rate(&dice, 200);
    plan->random_fails = rate(&dice, 50);
    plan->crash_between = rate(&dice, 30);
    plan->crash = rate(&dice, 10);
    plan->partition = rate(&dice, 5);
    plan->dead_link = rate(&dice, 5);
    plan->replay = rate(&dice, 20);
    plan->junk = rate(&dice, 10);
    plan->stranger = rate(&dice, 10);
    plan->tick = rate(&dice, 5);
    plan->clock_jump = rate(&dice, 3);
    if (planted >= PLANTED_NOISE_TWICE && planted < PLANTED_ROSTER_EARLY &&
        !plan_is_central(plan)) {
        plan->trial = (enum trial)(TRIAL_LOCAL + 1 + seed % (TRIAL_MASKED - 1));
    }
    if (plan->trial == TRIAL_MASKED && plan->cohort_min < 2) {
        plan->cohort_min = 2;
    }
    if (planted == PLANTED_REVOKED_COUNTS) {
        plan->patient = false;
        plan->stranger = 10;
    }
    if (!plan->patient) {
        draw_hostility(plan, &dice);
    }
}

void plan_share(struct plan *plan)
{
    struct dice dice = {.state = plan->seed ^ UINT64_C(0xbb67ae8584caa73b)};
    plan->coordinators = between(&dice, 2, 3);
    plan->faults_end_ms += 10000;
    plan->statement = rate(&dice, 300);
    plan->held_up = rate(&dice, 400);
    plan->held_between = rate(&dice, 20);
    plan->hold_ms_max = between(&dice, 100, 6000);
    plan->stop = rate(&dice, 5);
    plan->database_stop = rate(&dice, 2);
    plan->database_cut = rate(&dice, 2);
}

void plan_collect(struct plan *plan)
{
    struct dice dice = {.state = plan->seed ^ UINT64_C(0x3c6ef372fe94f82b)};
    plan_share(plan);
    plan->collectors = 2;
    plan->coordinators = between(&dice, 3, 4);
    plan->joined = true;
    plan->trial = TRIAL_LOCAL;
    plan->local = plan->local == LOCAL_STREAM ? LOCAL_STREAM : LOCAL_FITS;
    for (size_t i = 1; i < sizeof plan->group / sizeof plan->group[0]; i++) {
        plan->group[i] = (size_t)dice_below(&dice, plan->collectors + 1);
    }
}
