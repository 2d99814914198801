/* Average regret against the number of rounds, for every strategy beside its bound, on three kinds of
 * losses (study_hedge.h). */

#include "lab/study/study.h"

#include "lab/study/study_hedge.h"

#include <math.h>
#include <stdio.h>

enum { LENGTHS = 4, TEXT = 32 };
enum { LENGTH_MEDIUM = 10000, RUNS = 10, RUNS_MANY = 20 };

/* How often chance alone may break either of the claims that allow for it, with any seed. */
#define ALARM 5e-7

static const char *const way_name[STUDY_WAYS] = {
    "theorem", "rwm", "dartboard", "epochs", "not private", "local, rwm on noisy losses"};
static const char *const kind_name[STUDY_KINDS] = {"stochastic", "switching", "adversarial"};

/* Plays of each setting: in units of `runs` up to LENGTH_MEDIUM rounds, and beyond. Lazy plays vary,
 * most against the adversary, and are judged by their mean. */
static const uint64_t runs_of[STUDY_WAYS][2] = {{1, 2}, {2, 2}, {10, 24}, {2, 4}, {2, 2}, {10, 24}};
static const uint64_t runs_lazy[2] = {40, 240};
static const uint64_t lengths[LENGTHS] = {100, 1000, LENGTH_MEDIUM, 100000};

/* The mean over plays, and its standard error; what the mean should be; and of the two's distance. */
struct measured {
    uint64_t plays;
    double mean;
    double error;
    double expected; /* epochs: mean */
    double vague;    /* its standard error, over the noise on the losses: local trust */
    double apart;    /* over what chance allows; 0 where there are too few plays to tell */
};

struct figures {
    struct measured measured[STUDY_WAYS][STUDY_KINDS][LENGTHS];
    double bound[STUDY_WAYS][LENGTHS];
    size_t lengths; /* that were played */
};

/* How many standard errors a mean over that many plays may be off, if chance is to exceed it `alarm`
 * often. Student's t with n = plays - 1 degrees: its tail is at most the integral of x/t times the
 * density, C n/((n - 1) t) (1 + t^2/n)^(-(n - 1)/2). Plays are taken for normal. */
static double errors_allowed(uint64_t plays, double alarm)
{
    const double n = (double)plays - 1;
    const double constant = lgamma((n + 1) / 2) - lgamma(n / 2) - log(n * acos(-1)) / 2;
    double low = 1;
    double high = 1e6;
    for (unsigned i = 0; i < 60 && n >= 2; i++) {
        const double t = (low + high) / 2;
        const double tail = constant + log(n / ((n - 1) * t)) - (n - 1) / 2 * log1p(t * t / n);
        *(tail > log(alarm) ? &low : &high) = t;
    }
    return high;
}

/* What the mean is at the least, whatever chance did to the noise; ALARM for all settings. */
static double expected_surely(const struct measured *measured)
{
    return measured->vague == 0
               ? measured->expected
               : measured->expected -
                     measured->vague *
                         errors_allowed(measured->plays, ALARM / (STUDY_KINDS * LENGTHS));
}

static enum status measure(struct measured *measured, const struct study_hedge *play,
                           const struct study_request *request, struct why *why)
{
    const bool is_long = play->rounds > LENGTH_MEDIUM;
    const bool lazy = play->way == HEDGE_DARTBOARD && play->kind == 2;
    const uint64_t own = lazy ? runs_lazy[is_long] : runs_of[play->way][is_long];
    const uint64_t runs = is_long ? own : own * (request->runs == 0 ? RUNS : request->runs);
    const double n = (double)runs;
    enum status status = STATUS_OK;
    double sum[3] = {0, 0, 0};
    double squares[3] = {0, 0, 0};
    struct study_hedge one = *play;
    const bool fixed = play->kind != 0 && play->way != STUDY_LOCAL; /* no chance in exp(-eta L) */
    double expected = 0;
    for (uint64_t run = 0; run < runs && status == STATUS_OK; run++) {
        struct study_outcome outcome = {0, 0};
        one.expects = run == 0 || !fixed;
        status = study_hedge_run(&outcome, &one, 1000000 * request->seed + run, why);
        expected = one.expects ? outcome.expected : expected;
        outcome.expected = expected;
        const double value[3] = {outcome.regret, outcome.regret - outcome.expected,
                                 outcome.expected};
        for (unsigned i = 0; i < 3; i++) {
            sum[i] += value[i];
            squares[i] += value[i] * value[i];
        }
    }
    measured->plays = runs;
    measured->mean = sum[0] / n;
    measured->error = sqrt(fmax(squares[0] / n - pow(sum[0] / n, 2), 0) / (n - 1));
    measured->expected = play->way == HEDGE_EPOCHS ? measured->mean : (sum[0] - sum[1]) / n;
    measured->vague =
        play->way == STUDY_LOCAL ? sqrt(fmax(squares[2] / n - pow(sum[2] / n, 2), 0) / (n - 1)) : 0;
    const double error = sqrt(fmax(squares[1] / n - pow(sum[1] / n, 2), 0) / (n - 1));
    measured->apart =
        runs < RUNS_MANY || play->way == HEDGE_EPOCHS || error == 0
            ? 0
            : fabs(sum[1] / n) / error /
                  errors_allowed(runs, ALARM / (2 * STUDY_WAYS * STUDY_KINDS * LENGTHS));
    return status;
}

static enum status play_all(struct figures *figures, struct study *study,
                            const struct study_request *request, struct why *why)
{
    static const char *const columns[] = {"losses",         "rounds",   "strategy", "regret",
                                          "standard error", "expected", "bound"};
    enum status status = STATUS_OK;
    study_columns(&study->table, sizeof columns / sizeof columns[0], columns);
    for (size_t at = 0; at < figures->lengths; at++) {
        for (unsigned way = 0; way < STUDY_WAYS; way++) {
            for (unsigned kind = 0; kind < STUDY_KINDS && status == STATUS_OK; kind++) {
                struct study_hedge play = {.way = way, .kind = kind, .rounds = lengths[at]};
                struct measured *measured = &figures->measured[way][kind][at];
                char text[5][TEXT];
                status = study_hedge_prepare(&play, &figures->bound[way][at], why);
                if (status == STATUS_OK) {
                    status = measure(measured, &play, request, why);
                }
                (void)snprintf(text[0], TEXT, "%llu", (unsigned long long)lengths[at]);
                (void)snprintf(text[1], TEXT, "%.5f", measured->mean);
                (void)snprintf(text[2], TEXT, "%.5f", measured->error);
                (void)snprintf(text[3], TEXT, way == HEDGE_EPOCHS ? "-" : "%.5f",
                               measured->expected);
                (void)snprintf(text[4], TEXT, way == HEDGE_EPOCHS && kind != 0 ? "none" : "%.5f",
                               figures->bound[way][at]);
                study_row(&study->table, 7,
                          (const char *const[]){kind_name[kind], text[0], way_name[way], text[1],
                                                text[2], text[3], text[4]});
            }
        }
        study_progress(request, "regret: %llu rounds", (unsigned long long)lengths[at]);
    }
    return status;
}

static void draw(struct study *study, const struct figures *figures)
{
    for (unsigned kind = 0; kind < STUDY_KINDS; kind++) {
        struct study_chart words = {
            .x_title = "rounds", .y_title = "average regret", .x_log = true, .y_log = true};
        (void)snprintf(words.title, sizeof words.title, "Regret on %s losses", kind_name[kind]);
        (void)snprintf(
            words.text, sizeof words.text, "%s",
            kind == 0 ? "Fair coins; one expert's is better by a tenth."
            : kind == 1
                ? "Every tenth of the rounds another expert is best. epochs promises nothing "
                  "here."
                : "Chosen against each strategy and its eta, to cost it both terms of "
                  "its bound. epochs promises nothing here.");
        struct study_chart *chart = study_chart(study, &words);
        for (unsigned way = 0; way < STUDY_WAYS; way++) {
            char name[STUDY_NAME_BYTES];
            struct study_series *line = study_series(chart, STUDY_MEASURED, way, way_name[way]);
            for (size_t at = 0; at < figures->lengths; at++) {
                study_point(line, (double)lengths[at], figures->measured[way][kind][at].mean);
            }
            if (way == HEDGE_EPOCHS && kind != 0) {
                continue;
            }
            (void)snprintf(name, sizeof name, "%s: bound", way_name[way]);
            line = study_series(chart, STUDY_BOUND, way, name);
            for (size_t at = 0; at < figures->lengths; at++) {
                study_point(line, (double)lengths[at], figures->bound[way][at]);
            }
        }
    }
}

/* The largest regret over the losses, at one length, and the largest mean of what it should be;
 * planted: of one faulty play, or of as many hasty ones against the adversary as of sound ones. */
static enum status worst(struct measured *most, const struct figures *figures, unsigned way,
                         size_t at, enum study_fault fault, const struct study_request *request,
                         struct why *why)
{
    struct study_hedge play = {.way = way,
                               .kind = fault == STUDY_HASTY ? STUDY_KINDS - 1 : 0,
                               .rounds = lengths[at],
                               .fault = fault};
    *most = (struct measured){.plays = 1, .mean = -1, .expected = -1};
    if (fault != STUDY_SOUND) {
        struct study_outcome outcome = {0, 0};
        double ignored = 0;
        enum status status = study_hedge_prepare(&play, &ignored, why);
        if (status == STATUS_OK && fault == STUDY_HASTY) {
            status = measure(most, &play, request, why);
            most->expected = expected_surely(most);
        } else if (status == STATUS_OK) {
            status = study_hedge_run(&outcome, &play, 1, why);
            most->mean = outcome.regret;
            most->expected = outcome.regret;
        }
        return status;
    }
    for (unsigned kind = 0; kind < STUDY_KINDS && (way != HEDGE_EPOCHS || kind == 0); kind++) {
        const struct measured *measured = &figures->measured[way][kind][at];
        const double expected = fmax(most->expected, expected_surely(measured));
        *most = measured->mean > most->mean ? *measured : *most;
        most->expected = expected;
    }
    return STATUS_OK;
}

/* What each way must reach at a length; bound 0: the theorem's over 15. */
static const struct target {
    unsigned way;
    size_t at;
    double bound;
    const char *sentence;
} targets[] = {
    {HEDGE_DARTBOARD, 2, 0, "dartboard, T = 10,000, worst losses: a fifteenth of theorem's bound"},
    {HEDGE_DARTBOARD, 2, 0.029, "dartboard, T = 10,000, worst losses: within its own bound, 0.029"},
    {HEDGE_EPOCHS, 2, 0.015, "epochs, pure epsilon 1, stochastic losses, T = 10,000"},
    {HEDGE_DARTBOARD, 3, 0.0063, "dartboard, T = 100,000, worst losses"}};

static enum status claim_targets(struct study *study, const struct figures *figures,
                                 const struct study_request *request, struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const struct target *target = &targets[i];
        struct measured most = {0};
        if (target->at >= figures->lengths || status != STATUS_OK) {
            continue;
        }
        status = worst(&most, figures, target->way, target->at,
                       request->planted ? STUDY_BLIND : STUDY_SOUND, request, why);
        study_claim(study, STUDY_AT_MOST, most.mean,
                    target->bound > 0 ? target->bound
                                      : figures->bound[HEDGE_THEOREM][target->at] / 15,
                    "%s: mean of %llu plays, standard error %.2g", target->sentence,
                    (unsigned long long)most.plays, most.error);
    }
    return status;
}

/* Every length's regret in the mean over its bound; planted: losses that look at the play first, or,
 * where no privacy binds eta, twice the eta that is planned: a quarter more than the bound. */
static enum status claim_bounds(struct study *study, const struct figures *figures,
                                const struct study_request *request, struct why *why)
{
    enum status status = STATUS_OK;
    for (unsigned way = 0; way < STUDY_WAYS; way++) {
        const enum study_fault fault = !request->planted          ? STUDY_SOUND
                                       : way >= STUDY_NOT_PRIVATE ? STUDY_HASTY
                                                                  : STUDY_PEEKING;
        double most = 0;
        for (size_t at = 0; at < figures->lengths && status == STATUS_OK; at++) {
            struct measured regret = {0};
            status = worst(&regret, figures, way, at, fault, request, why);
            most = fmax(most, regret.expected / figures->bound[way][at]);
        }
        study_claim(
            study, STUDY_AT_MOST, most, 1,
            way == HEDGE_EPOCHS
                ? "%s: measured regret over its bound, the worst of all lengths, stochastic losses"
            : way == STUDY_LOCAL
                ? "%s: expected regret over its bound, less what chance in the noise may add "
                  "(false alarm 5e-7), the worst of all lengths and losses"
                : "%s: expected regret over its bound, the worst of all lengths and losses",
            way_name[way]);
    }
    return status;
}

/* Exact draws: the plays' means are those of exp(-eta L); planted: blind plays' are not. */
static enum status claim_draws(struct study *study, const struct figures *figures,
                               const struct study_request *request, struct why *why)
{
    enum status status = STATUS_OK;
    double most = 0;
    for (unsigned way = 0; way < STUDY_WAYS; way++) {
        for (unsigned kind = 0; kind < STUDY_KINDS; kind++) {
            for (size_t at = 0; at < figures->lengths; at++) {
                most = fmax(most, figures->measured[way][kind][at].apart);
            }
        }
    }
    if (request->planted) {
        struct study_hedge play = {
            .way = HEDGE_DARTBOARD, .rounds = LENGTH_MEDIUM, .fault = STUDY_BLIND};
        const struct study_request many = {.seed = request->seed, .runs = RUNS_MANY / 10};
        struct measured blind = {0};
        double ignored = 0;
        status = study_hedge_prepare(&play, &ignored, why);
        if (status == STATUS_OK) {
            status = measure(&blind, &play, &many, why);
        }
        most = blind.apart;
    }
    study_claim(
        study, STUDY_AT_MOST, most, 1,
        "draws follow exp(-eta L): the largest distance of a measured mean from what it should be, "
        "over what chance allows (false alarm 5e-7), where there are %d plays or more",
        RUNS_MANY);
    return status;
}

enum status study_regret(struct study *study, const struct study_request *request, struct why *why)
{
    struct figures figures = {.lengths = 0};
    (void)snprintf(study->title, sizeof study->title, "What privacy costs the experts");
    (void)snprintf(
        study->lede, sizeof study->lede,
        "Regret is loss per round beyond the best expert's in hindsight. Ten experts; epsilon 1 "
        "and delta 0.000001 for a whole round's losses replaced, epochs at delta 0. Central trust: the coordinator's "
        "own machine, every draw exact and paid for. Local: five agents of %d records a round, "
        "epsilon 1 a record, noise on every loss.",
        STUDY_AGENT_RECORDS);
    while (figures.lengths < LENGTHS &&
           (request->rounds == 0 || lengths[figures.lengths] <= request->rounds)) {
        figures.lengths++;
    }
    enum status status = play_all(&figures, study, request, why);
    if (status == STATUS_OK) {
        draw(study, &figures);
        status = claim_targets(study, &figures, request, why);
    }
    if (status == STATUS_OK) {
        status = claim_bounds(study, &figures, request, why);
    }
    return status != STATUS_OK ? status : claim_draws(study, &figures, request, why);
}
