/* select.c - three private selections, exact, in a time that does not follow the scores.
 *
 * The exponential mechanism (McSherry and Talwar, FOCS 2007). Each candidate has the real weight
 * t_i = 2^62 exp(-eta (q_i - q_min)) and an integer w_i <= t_i < w_i + 8. A uniform integer below
 * sum(w_i + 8) either falls below sum(w_i), where the prefix sums of w decide, or it points at a
 * candidate i and at one of its 8 spare units: i is taken when this unit, with a uniform fraction
 * added, is below t_i - w_i, else everything starts again. Each try ends with i with probability
 * (w_i + (t_i - w_i)) / sum(w_j + 8): exactly proportional to t_i, though no weight was ever
 * rounded right. As t of the best is 2^62, a try leaves the first case with a probability below
 * 8 count / 2^62. Neither sum overflows: count < 2^60.
 *
 * Permute-and-flip (McKenna and Sheldon, NeurIPS 2020): the first success in a random order is a
 * uniform one of all the successes. So every coin is thrown and every candidate gets a random
 * priority; the success of the smallest priority is taken. Equal priorities are told apart by
 * another uniform draw among the equals. A coin is a uniform integer U < 2^62: below w_i it fell,
 * from w_i + 8 on it did not, in between a fraction decides whether U + fraction < t_i. The best
 * always falls. Deviation: all coins are thrown, not only those up to the first success; nothing
 * else of them is looked at.
 *
 * Report-noisy-max (Dwork and Roth 2014, claim 3.9), on integers. Let q, q' be neighbours, D the
 * sensitivity, and fix the noise of all candidates but i. i wins when q_i + z is below q_j + Z_j
 * for each j < i and not above it for each j > i: exactly when z <= T(q) for an integer T(q) = min
 * over j of (q_j + Z_j - [j < i]) - q_i. Every term of T moves by at most 2 D, so T(q) <= T(q') + 2
 * D, and P(z <= T + 2 D) <= e^(2 D / scale) P(z <= T) for discrete Laplace noise, as P(z - 2 D) <=
 * e^(2 D / scale) P(z) for every z. Which of equals wins enters as [j < i], which does not depend
 * on the data: that is why ties are harmless, and why they are not when the data break them.
 *
 * The order of reading, the number of random bytes and the control flow depend on count alone. (Above
 * 2^16 candidates they also depend on the block, a sixty-fourth of them, that is chosen. The answer
 * tells the block anyway.) Exceptions are marked "very rare" below. Masks take the place of branches. */

#include "dp/select.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/mask.h"
#include "base/wide.h"
#include "dp/mechanism.h"
#include "dp/select_private.h"

enum { BLOCK = 256, SLACK = NOISE_EXPONENTIAL_SLACK };
enum { LANES = 4, PARTS = 64, PARTED_FROM = 1 << 16 };
enum { COIN_SHIFT = 64 - NOISE_EXPONENTIAL_BITS };

#define COUNT_MAX (SIZE_MAX >> 4)

static inline int64_t smaller(int64_t a, int64_t b)
{
    return (int64_t)mask_choose(mask_of(a < b), (uint64_t)a, (uint64_t)b);
}

/* In lanes that do not wait for each other. */
static int64_t least(const int64_t *scores, size_t count)
{
    int64_t lane[LANES] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    size_t done = 0;
    for (; count - done >= LANES; done += LANES) {
        for (size_t i = 0; i < LANES; i++) {
            lane[i] = smaller(scores[done + i], lane[i]);
        }
    }
    for (; done < count; done++) {
        lane[0] = smaller(scores[done], lane[0]);
    }
    const int64_t best = smaller(smaller(lane[0], lane[1]), smaller(lane[2], lane[3]));
    bytes_wipe(lane, sizeof lane);
    return best;
}

/* How far a score is from the best; modulo 2^64, which is where it lies. */
static inline uint64_t distance_of(int64_t score, int64_t best)
{
    return (uint64_t)score - (uint64_t)best;
}

/* weight (count <= BLOCK) of these candidates. */
static void weigh(const struct noise_exponential *decay, uint64_t *weight, const int64_t *scores,
                  size_t count, int64_t best)
{
    for (size_t i = 0; i < count; i++) {
        weight[i] = distance_of(scores[i], best);
    }
    noise_exponential_floor(decay, weight, weight, count);
}

/* a < b, 1 or 0, for both below 2^127: without optimisation a comparison of two words each would be
 * a branch. */
static inline uint64_t is_less(uint128 a, uint128 b)
{
    return (uint64_t)((a - b) >> 127);
}

static inline size_t block_size(size_t done, size_t count)
{
    return count - done < BLOCK ? count - done : BLOCK;
}

/* The candidates in runs of whole blocks, the last ones shorter or empty, and how much weight comes
 * before each. Few candidates are one part. */
struct parts {
    size_t number; /* 1 or PARTS */
    size_t size;
    uint128 before[PARTS + 1];
};

static inline size_t part_end(const struct parts *parts, size_t part, size_t count)
{
    return part + 1 < parts->number && parts->size * (part + 1) < count ? parts->size * (part + 1)
                                                                        : count;
}

static inline size_t part_begin(const struct parts *parts, size_t part, size_t count)
{
    return parts->size * part < count ? parts->size * part : count;
}

/* The sum of up to BLOCK weights, in halves that carry nothing to each other. */
static uint128 sum_of(const uint64_t *weight, size_t count)
{
    uint64_t low = 0;
    uint64_t high = 0;
    for (size_t i = 0; i < count; i++) {
        low += (uint32_t)weight[i];
        high += weight[i] >> 32;
    }
    return ((uint128)high << 32) + low;
}

static void weigh_parts(struct parts *parts, const struct noise_exponential *decay,
                        const int64_t *scores, size_t count, int64_t best)
{
    uint64_t weight[BLOCK];
    uint128 sum = 0;
    parts->number = count <= PARTED_FROM ? 1 : PARTS;
    parts->size = count <= PARTED_FROM ? count : (count / PARTS / BLOCK + 1) * BLOCK;
    for (size_t part = 0; part < parts->number; part++) {
        const size_t end = part_end(parts, part, count);
        parts->before[part] = sum;
        for (size_t done = part_begin(parts, part, count); done < end; done += BLOCK) {
            size_t block = block_size(done, end);
            weigh(decay, weight, scores + done, block, best);
            sum += sum_of(weight, block);
        }
    }
    parts->before[parts->number] = sum;
    bytes_wipe(weight, sizeof weight);
}

/* How many of the prefix sums w_0, w_0 + w_1, ... are at most the point, to the last. Of many
 * candidates only the part that holds the point is weighed again: the answer tells which. */
static size_t prefixes_up_to(const struct parts *parts, const struct noise_exponential *decay,
                             const int64_t *scores, size_t count, int64_t best, uint128 point)
{
    uint64_t weight[BLOCK];
    size_t part = 0;
    for (size_t i = 1; i <= parts->number && parts->number > 1; i++) {
        part += 1 - is_less(point, parts->before[i]);
    }
    if (part == parts->number) {
        return count;
    }
    const size_t end = part_end(parts, part, count);
    size_t passed = part_begin(parts, part, count);
    uint128 sum = parts->before[part];
    for (size_t done = passed; done < end; done += BLOCK) {
        size_t block = block_size(done, end);
        weigh(decay, weight, scores + done, block, best);
        for (size_t i = 0; i < block; i++) {
            sum += weight[i];
            passed += 1 - is_less(point, sum);
        }
    }
    bytes_wipe(weight, sizeof weight);
    return passed;
}

enum status select_draw_exponential(const struct noise_exponential *decay,
                                    const struct random *random, size_t *chosen,
                                    const int64_t *scores, size_t count)
{
    CHECK(count > 0 && count < COUNT_MAX);
    const int64_t best = least(scores, count);
    struct parts parts;
    weigh_parts(&parts, decay, scores, count, best);
    const uint128 sum = parts.before[parts.number];
    uint128 point = 0;
    bool taken = false;
    enum status status = STATUS_OK;
    *chosen = SIZE_MAX;
    while (status == STATUS_OK && !taken) {
        status = select_draw_below(random, sum + (uint128)count * SLACK, &point);
        size_t passed = prefixes_up_to(&parts, decay, scores, count, best, point);
        taken = passed < count;
        if (status == STATUS_OK && !taken) { /* very rare */
            passed = (size_t)((point - sum) / SLACK);
            uint64_t distance = distance_of(scores[passed], best);
            uint64_t whole = 0;
            noise_exponential_floor(decay, &whole, &distance, 1);
            whole += (uint64_t)((point - sum) % SLACK);
            status = noise_exponential_above(decay, random, distance, whole, &taken);
        }
        *chosen = status == STATUS_OK && taken ? passed : SIZE_MAX;
    }
    bytes_wipe(&point, sizeof point);
    bytes_wipe(parts.before, (parts.number + 1) * sizeof *parts.before);
    stack_wipe();
    return status;
}

/* The success of the smallest priority so far, and how many successes have it. */
struct leader {
    uint64_t priority;
    uint64_t equals;
    uint64_t index;
};

/* A coin that its integer does not decide: very rare. */
static enum status decide_coin(const struct noise_exponential *decay, const struct random *random,
                               uint64_t distance, uint64_t coin, uint64_t *success)
{
    bool above = false;
    enum status status = noise_exponential_above(decay, random, distance, coin, &above);
    *success = mask_of(above);
    return status;
}

/* A priority like the leader's, which is very rare: the newest of n equals takes over with probability
 * 1/n, so that each of them has 1/n in the end. */
static enum status decide_tie(const struct random *random, struct leader *leader, uint64_t index)
{
    uint128 draw = 0;
    leader->equals++;
    enum status status = select_draw_below(random, leader->equals, &draw);
    if (status == STATUS_OK && draw == 0) {
        leader->index = index;
    }
    return status;
}

/* One block of candidates; weight and word (2 * count) are scratch. */
static enum status flip_block(const struct noise_exponential *decay, const struct random *random,
                              struct leader *leader, const int64_t *scores, size_t first,
                              size_t count, int64_t best)
{
    uint64_t weight[BLOCK];
    uint64_t word[2 * BLOCK];
    enum status status = random_fill(random, word, 2 * count * sizeof *word);
    weigh(decay, weight, scores + first, count, best);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const uint64_t coin = word[2 * i] >> COIN_SHIFT;
        const uint64_t priority = word[2 * i + 1];
        uint64_t success = mask_of(coin < weight[i]);
        if (coin - weight[i] < SLACK) { /* very rare; wraps below the weight */
            status =
                decide_coin(decay, random, distance_of(scores[first + i], best), coin, &success);
        }
        uint64_t equal = success & mask_of(priority == leader->priority);
        uint64_t before = success & mask_of(priority < leader->priority);
        leader->priority = mask_choose(before, priority, leader->priority);
        leader->index = mask_choose(before, first + i, leader->index);
        leader->equals = mask_choose(before, 1, leader->equals);
        if (equal != 0 && status == STATUS_OK) { /* very rare */
            status = decide_tie(random, leader, first + i);
        }
    }
    bytes_wipe(weight, sizeof weight);
    bytes_wipe(word, sizeof word);
    return status;
}

enum status select_draw_flip(const struct noise_exponential *decay, const struct random *random,
                             size_t *chosen, const int64_t *scores, size_t count)
{
    CHECK(count > 0 && count < COUNT_MAX);
    const int64_t best = least(scores, count);
    struct leader leader = {.priority = UINT64_MAX, .index = SIZE_MAX};
    enum status status = STATUS_OK;
    for (size_t done = 0; done < count && status == STATUS_OK; done += BLOCK) {
        status = flip_block(decay, random, &leader, scores, done, block_size(done, count), best);
    }
    *chosen = status == STATUS_OK ? (size_t)leader.index : SIZE_MAX;
    bytes_wipe(&leader, sizeof leader);
    stack_wipe();
    return status;
}

enum status select_draw_noisy(const struct noise_laplace *noise, const struct random *random,
                              size_t *chosen, const int64_t *scores, size_t count)
{
    CHECK(count > 0 && count < COUNT_MAX);
    int64_t drawn[BLOCK];
    uint128 least_sum = ~(uint128)0 >> 1; /* shifted by 2^65 to be unsigned; above every sum */
    uint64_t index = SIZE_MAX;
    enum status status = STATUS_OK;
    for (size_t done = 0; done < count && status == STATUS_OK; done += BLOCK) {
        size_t block = block_size(done, count);
        status = noise_laplace_draw(noise, random, drawn, block);
        for (size_t i = 0; i < block; i++) {
            int128 exact = (int128)scores[done + i] + drawn[i];
            uint128 sum = (uint128)(exact + ((int128)1 << 65));
            uint64_t before = mask_of(is_less(sum, least_sum));
            uint128 wide = (uint128)before << 64 | before;
            least_sum ^= (least_sum ^ sum) & wide;
            index = mask_choose(before, done + i, index);
        }
    }
    *chosen = status == STATUS_OK ? (size_t)index : SIZE_MAX;
    bytes_wipe(drawn, sizeof drawn);
    stack_wipe();
    return status;
}

/* Takes the grant; its epsilon when it is for this mechanism, else 0. */
static uint64_t epsilon_of(struct grant **grant, enum mechanism mechanism)
{
    const struct charge charge = grant_use_up(grant);
    return charge.mechanism == mechanism ? charge.epsilon_micro : 0;
}

/* eta = epsilon / (2 sensitivity); refuses 0 of either. */
static enum status decay_of(struct noise_exponential *decay, uint64_t epsilon_micro,
                            uint64_t sensitivity)
{
    return noise_exponential_init(decay, epsilon_micro,
                                  (uint128)2 * EPSILON_MICRO_ONE * sensitivity);
}

enum status select_exponential(struct grant **grant, const struct random *random, size_t *chosen,
                               const int64_t *scores, size_t count, uint64_t sensitivity)
{
    struct noise_exponential decay;
    uint64_t epsilon_micro = epsilon_of(grant, MECHANISM_EXPONENTIAL);
    *chosen = SIZE_MAX;
    enum status status = decay_of(&decay, epsilon_micro, sensitivity);
    return status != STATUS_OK ? status
                               : select_draw_exponential(&decay, random, chosen, scores, count);
}

enum status select_permute_and_flip(struct grant **grant, const struct random *random,
                                    size_t *chosen, const int64_t *scores, size_t count,
                                    uint64_t sensitivity)
{
    struct noise_exponential decay;
    uint64_t epsilon_micro = epsilon_of(grant, MECHANISM_PURE);
    *chosen = SIZE_MAX;
    enum status status = decay_of(&decay, epsilon_micro, sensitivity);
    return status != STATUS_OK ? status : select_draw_flip(&decay, random, chosen, scores, count);
}

enum status select_noisy_max(struct grant **grant, const struct random *random, size_t *chosen,
                             const int64_t *scores, size_t count, uint64_t sensitivity)
{
    struct noise_scale scale;
    struct noise_laplace noise;
    uint64_t epsilon_micro = epsilon_of(grant, MECHANISM_PURE);
    *chosen = SIZE_MAX;
    enum status status = STATUS_INVALID;
    if (sensitivity <= UINT64_MAX / 2) {
        status = mechanism_scale(&scale, 2 * sensitivity, epsilon_micro, NULL);
    }
    if (status == STATUS_OK) {
        status = noise_laplace_init(&noise, scale);
    }
    return status != STATUS_OK ? status : select_draw_noisy(&noise, random, chosen, scores, count);
}
