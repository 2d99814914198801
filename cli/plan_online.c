#include "cli/plan.h"
#include "cli/plan_fields.h"
#include "cli/plan_lines.h"
#include "learn/online.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { SHOWN_MAX = 8, REAL_BITS = 52, NOISE_SCALE_TIGHT = 5 };

struct request {
    struct online_problem problem;
    double t0;
    double time;
    double epsilon;
};

static enum status check(struct request *request, struct why *why)
{
    request->problem.t0 = (uint64_t)request->t0;
    enum status status = online_check(&request->problem, why);
    if (status == STATUS_OK && !(request->time <= ldexp(1, ONLINE_TIME_MAX_LOG2))) {
        why_set(why, "--time must be at most 2^%d", ONLINE_TIME_MAX_LOG2);
        status = STATUS_INVALID;
    }
    if (status == STATUS_OK && !(request->epsilon > 0)) {
        why_set(why, "--epsilon must be above 0");
        status = STATUS_INVALID;
    }
    return status;
}

static void print_text(const struct request *request, const struct plan_line *line, size_t lines,
                       const uint64_t *times, size_t releases)
{
    const struct online_problem *problem = &request->problem;
    (void)printf("theta %g, t0 %" PRIu64
                 ", kappa %g, |y| <= %g, epsilon %g a release and point\n\n",
                 problem->theta, problem->t0, problem->kappa, problem->bound, request->epsilon);
    plan_lines_table(line, lines);
    if (releases > 0) {
        (void)printf("\nreleases after the records ");
        for (size_t i = 0; i < releases && i < SHOWN_MAX; i++) {
            (void)printf("%s%" PRIu64, i == 0 ? "" : ", ", times[i]);
        }
        (void)printf("%s\n", releases > SHOWN_MAX ? ", .." : "");
    }
    if (line[NOISE_SCALE_TIGHT].value > problem->bound / 2) {
        (void)printf(
            "\nThe noise drowns the answers, which lie between -%g and %g: wait longer, take "
            "a larger theta or\na larger epsilon.\n",
            problem->bound, problem->bound);
    }
}

static enum exit_code run(const struct command *command, int count, char **argument)
{
    struct request request = {.problem = {.grid_bits = 0, .feature_count = 1}};
    struct online_problem *problem = &request.problem;
    struct why why = {""};
    bool json = false;
    const struct plan_field field[] = {
        {.name = "--theta", .what = "T", .required = true, .real = &problem->theta},
        {.name = "--t0", .what = "N", .required = true, .whole = &request.t0},
        {.name = "--kappa", .what = "K", .required = true, .real = &problem->kappa},
        {.name = "--bound", .what = "B", .required = true, .real = &problem->bound},
        {.name = "--time", .what = "N", .required = true, .whole = &request.time},
        {.name = "--epsilon", .what = "E", .required = true, .real = &request.epsilon}};

    if (plan_fields_read(field, sizeof field / sizeof *field, &json, count, argument, &why) !=
            STATUS_OK ||
        check(&request, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t releases = 0;
    online_release_times(problem, (uint64_t)request.time, times, &releases);
    /* The geometric series, cut short. */
    const double endless = request.epsilon * online_endless_factor(2 - 2 * problem->theta);
    const double so_far = -expm1((2 * problem->theta - 2) * log(2) * (double)releases);
    const double sensitivity = online_sensitivity_point(problem, (uint64_t)request.time);
    const double tight = online_influence_point(problem, (uint64_t)request.time);
    struct online_problem real = *problem;
    real.grid_bits = REAL_BITS;
    const struct plan_line line[] = {
        {"sensitivity", sensitivity, "answer",
         "every record so far, wherever it stands; in the reals, as published"},
        {"noise_scale", sensitivity / request.epsilon, "answer",
         "the mean size of the noise on ONE point of ONE release"},
        {"stream_epsilon", endless, "epsilon",
         "an endless stream, released whenever t - 1 + t0 has doubled; in the reals"},
        {"stream_epsilon_so_far", endless * so_far, "epsilon", "the same, ended at --time"},
        {"sensitivity_tight", tight, "answer", "as hedgerow bounds it, and jobs use it"},
        {"noise_scale_tight", tight / request.epsilon, "answer", "with that"},
        {"stream_epsilon_tight", request.epsilon * online_endless_factor(1 - problem->theta),
         "epsilon", "an endless stream with that: smaller steps fade more slowly against it"},
        {"stream_epsilon_tight_so_far", request.epsilon * online_stream_factor(&real, releases),
         "epsilon", "the same, ended at --time"},
        {"releases", (double)releases, "releases", "on that schedule, up to --time"}};
    enum { LINES = sizeof line / sizeof *line };
    enum status status = STATUS_OK;
    if (json) {
        status = plan_lines_json(line, LINES);
    } else {
        print_text(&request, line, LINES, times, releases);
    }
    return status == STATUS_OK ? EXIT_CODE_OK : plan_fail(command, status, &why);
}

const struct command command_plan_online = {
    .name = "plan online",
    .summary = "the noise on what a stream has taught, and what all releases cost",
    .help =
        "usage: hedgerow plan online --theta T --t0 N --kappa K --bound B --time N --epsilon E [--json]\n\n"
        "Online kernel regression with steps (t + t0)^-theta: how far one replaced record, anywhere in\n"
        "the stream, can move an answer after --time records, the noise that hides it, and what an\n"
        "endless stream costs when it is released each time t - 1 + t0 has doubled. Released at every\n"
        "step, the cost would have no bound. On a grid of step g every release adds at most g over its\n"
        "sensitivity to the cost, in units of epsilon.\n\n"
        "  --theta T      above 1/2, below 1: how fast the steps shrink\n"
        "  --t0 N         T-th power at least kappa^2 + 1: how small the first steps are\n"
        "  --kappa K      the features' largest norm; 1 for Gaussian and Laplacian kernels\n"
        "  --bound B      |y| is at most this\n"
        "  --time N       records seen before the release\n"
        "  --epsilon E    of one release, per answered point\n"
        "  --json         the table's numbers with 17 digits\n\n"
        "example:\n"
        "  hedgerow plan online --theta 0.75 --t0 5 --kappa 1 --bound 1 --time 100 --epsilon 1\n",
    .run = run,
};
