#include "job/job.h"

#include "support/job_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* The valid job with one part replaced, and the whole message that this must give. */
struct refusal {
    const char *from;
    const char *to;
    enum status status;
    const char *message;
};

static const struct refusal
    refusals
        [] =
            {
                {"hedgerow: 1", "hedgerow: 3", STATUS_UNSUPPORTED,
                 "job.yml:1:11: hedgerow: is version 3, and this program reads version 1: use a matching program, or rewrite the file"},
                {"job: trial", "job: a b", STATUS_INVALID,
                 "job.yml:2:6: job: may hold letters, digits, '.', '_' and '-', beginning with a letter or digit: for example hospitals-mortality"},
                {"job: trial\n", "", STATUS_INVALID,
                 "job.yml:1:1: has no \"job\": add it, for example `job: hospitals-mortality`"},
                {"job: trial", "jobs: trial", STATUS_INVALID,
                 "job.yml:2:1: jobs: \"jobs\" is not a key here; did you mean \"job\"?"},
                {"positive: \"1\"", "positive: \"0\"", STATUS_INVALID,
                 "job.yml:4:51: data.label.negative: is the same as positive: the two classes need different texts"},
                {"column: death", "column: age", STATUS_INVALID,
                 "job.yml:6:16: data.features[0].column: is the label, which cannot be learned from itself: remove the feature"},
                {", negative: \"0\"", "", STATUS_INVALID,
                 "job.yml:4:10: data.label: has no \"negative\": add it, for example `negative: \"0\"`"},
                {"column: sex, categories: [F, M, X], missing: X",
                 "column: age, centre: 1, half_width: 1", STATUS_INVALID,
                 "job.yml:7:16: data.features[1].column: is there twice: remove one"},
                {"[F, M, X]", "[F]", STATUS_INVALID,
                 "job.yml:7:33: data.features[1].categories: holds one category: list every one there can be, at least two"},
                {"[F, M, X]", "[F, M, F]", STATUS_INVALID,
                 "job.yml:7:33: data.features[1].categories: lists one category twice"},
                {"missing: X", "missing: Y", STATUS_INVALID,
                 "job.yml:7:53: data.features[1].missing: is none of the categories"},
                {"[F, M, X]", "[F, M, X], centre: 3", STATUS_INVALID,
                 "job.yml:7:52: data.features[1].centre: is for a column of numbers: remove it, or the categories"},
                {"[F, M, X]", "[F, M, X], transform: none", STATUS_INVALID,
                 "job.yml:7:55: data.features[1].transform: is for a column of numbers: remove it, or the categories"},
                {"centre: 74, ", "", STATUS_INVALID,
                 "job.yml:6:7: data.features[0].centre: is missing: add the middle of the public range, or categories: [...]"},
                {", half_width: 24", "", STATUS_INVALID,
                 "job.yml:6:7: data.features[0].half_width: is missing: add half the length of the public range"},
                {"half_width: 24", "half_width: 0", STATUS_INVALID,
                 "job.yml:6:45: data.features[0].half_width: \"0\" is out of range: write a number from 1e-100 to 1e+100"},
                {"half_width: 24", "half_width: -1", STATUS_INVALID,
                 "job.yml:6:45: data.features[0].half_width: \"-1\" is out of range: write a number from 1e-100 to 1e+100"},
                {"centre: 74", "centre: NaN", STATUS_INVALID,
                 "job.yml:6:29: data.features[0].centre: \"NaN\" is not a number: write it like 50"},
                {"centre: 74", "centre: 7,4", STATUS_INVALID,
                 "job.yml:6:31: data.features[0].4: \"4\" is not a key here; known here: column, transform, centre, half_width, missing, categories"},
                {"missing: 0.5", "missing: half", STATUS_INVALID,
                 "job.yml:8:81: data.features[2].missing: is not a number: write what a missing value becomes, such as 1.0"},
                {"missing: 0.5", "missing: -1", STATUS_INVALID,
                 "job.yml:8:81: data.features[2].missing: must be above -1, as log1p is taken of it"},
                {"transform: log1p", "transform: log", STATUS_INVALID,
                 "job.yml:8:34: data.features[2].transform: \"log\" is not a choice; did you mean \"log1p\"?"},
                {"unit: record", "unit: agent", STATUS_INVALID,
                 "job.yml:12:11: stages[0].task: answers about single records, and privacy.unit is more: write unit: record, or another task"},
                {"replace_one", "add_remove", STATUS_INVALID,
                 "job.yml:9:37: privacy.neighbours: \"add_remove\" is not a choice; known here: replace_one"},
                {"trust: local", "trust: central", STATUS_INVALID,
                 "job.yml:16:20: stages[0].experts.own: needs trust local: otherwise only the noisy average is released"},
                {"trust: local", "trust: nobody", STATUS_INVALID,
                 "job.yml:9:57: privacy.trust: \"nobody\" is not a choice; known here: local, central"},
                {"unit: record", "unit: row", STATUS_INVALID,
                 "job.yml:9:17: privacy.unit: \"row\" is not a choice; known here: record, round, agent"},
                {"unit: record, ", "", STATUS_INVALID,
                 "job.yml:9:10: privacy: has no \"unit\": add it, for example `unit: record`"},
                {"epsilon: 1", "epsilon: 0", STATUS_INVALID,
                 "job.yml:9:73: privacy.epsilon: \"0\" is out of range: write a number from 0.000001 to 1000"},
                {"epsilon: 1", "epsilon: 0.0000009", STATUS_INVALID,
                 "job.yml:9:73: privacy.epsilon: \"0.0000009\" is out of range: write a number from 0.000001 to 1000"},
                {"epsilon: 1", "epsilon: 1001", STATUS_INVALID,
                 "job.yml:9:73: privacy.epsilon: \"1001\" is out of range: write a number from 0.000001 to 1000"},
                {"epsilon: 1", "epsilon: one", STATUS_INVALID,
                 "job.yml:9:73: privacy.epsilon: \"one\" is not a number: write it like 1"},
                {"epsilon: 1", "epsilon: inf", STATUS_INVALID,
                 "job.yml:9:73: privacy.epsilon: \"inf\" is not a number: write it like 1"},
                {"epsilon: 1,", "epsilon: 1, epsilon: 2,", STATUS_INVALID,
                 "job.yml:9:76: privacy.epsilon: is there twice: remove one"},
                {"delta: 0", "delta: 0.5", STATUS_INVALID,
                 "job.yml:9:83: privacy.delta: \"0.5\" is out of range: write a number from 0 to 0.1"},
                {"delta: 0", "delta: -0.1", STATUS_INVALID,
                 "job.yml:9:83: privacy.delta: \"-0.1\" is out of range: write a number from 0 to 0.1"},
                {"minimum: 3", "minimum: 0", STATUS_INVALID,
                 "job.yml:10:19: cohort.minimum: \"0\" is out of range: write a number from 1 to 256"},
                {"minimum: 3", "minimum: 257", STATUS_INVALID,
                 "job.yml:10:19: cohort.minimum: \"257\" is out of range: write a number from 1 to 256"},
                {"minimum: 3", "minimum: 2.5", STATUS_INVALID,
                 "job.yml:10:19: cohort.minimum: \"2.5\" is not a whole number: write it like 3"},
                {", deadline_s: 30", "", STATUS_INVALID,
                 "job.yml:10:9: cohort: has no \"deadline_s\": add it, for example `deadline_s: 30`"},
                {"deadline_s: 30", "deadline_s: 0.01", STATUS_INVALID,
                 "job.yml:10:55: cohort.deadline_s: \"0.01\" is out of range: write a number from 0.1 to 604800"},
                {"deadline_s: 30", "deadline_ms: 30", STATUS_INVALID,
                 "job.yml:10:43: cohort.deadline_ms: \"deadline_ms\" is not a key here; did you mean \"deadline_s\"?"},
                {"task: fit", "task: fitt", STATUS_INVALID,
                 "job.yml:12:11: stages[0].task: \"fitt\" is not a choice; did you mean \"fit\"?"},
                {"  - task: fit\n    loss: hinge", "  - loss: hinge", STATUS_INVALID,
                 "job.yml:12:5: stages[0]: has no \"task\": add it, for example `task: fit`"},
                {"loss: hinge", "loss: zero_one", STATUS_INVALID,
                 "job.yml:13:11: stages[0].loss: zero_one cannot be minimised: write logistic or hinge"},
                {"loss: hinge", "loss: hinge\n    loss_parameter: 0.5", STATUS_INVALID,
                 "job.yml:14:21: stages[0].loss_parameter: is not read by this loss: remove it"},
                {"loss: hinge", "loss: pinball\n    loss_parameter: 1", STATUS_INVALID,
                 "job.yml:14:21: stages[0].loss_parameter: the pinball loss needs its quantile as parameter, above 0 and below 1"},
                {"loss: hinge", "loss: huber", STATUS_INVALID,
                 "job.yml:12:5: stages[0].loss_parameter: the Huber loss needs its bend as parameter, above 0 and at most 2"},
                {"loss: hinge", "loss: hinje", STATUS_INVALID,
                 "job.yml:13:11: stages[0].loss: \"hinje\" is not a choice; did you mean \"hinge\"?"},
                {"lambdas: [0.003, 0.01, 0.1]", "lambdas: [0.1, 0.1]", STATUS_INVALID,
                 "job.yml:14:14: stages[0].lambdas: holds one lambda twice: it would be paid twice"},
                {"    lambdas: [0.003, 0.01, 0.1]\n", "", STATUS_INVALID,
                 "job.yml:12:5: stages[0].lambdas: is missing: add it, for example `lambdas: [0.003]`"},
                {"0.003", "0", STATUS_INVALID,
                 "job.yml:14:15: stages[0].lambdas[0]: \"0\" is out of range: write a number from 1e-09 to 1e+06"},
                {"[0.003, 0.01, 0.1]", "0.003", STATUS_INVALID,
                 "job.yml:14:14: stages[0].lambdas: is a single value, not a list: write it like [0.003]"},
                {"[0.003, 0.01, 0.1]", "[]", STATUS_INVALID,
                 "job.yml:14:14: stages[0].lambdas: is an empty list: write it like [0.003]"},
                {"0.003", "3e-10", STATUS_INVALID,
                 "job.yml:14:15: stages[0].lambdas[0]: \"3e-10\" is out of range: write a number from 1e-09 to 1e+06"},
                {"share: 0.8", "share: 0.80000001", STATUS_INVALID,
                 "job.yml:24:12: stages[1].share: makes the shares' sum more than 1: lower them, or raise privacy.epsilon"},
                {"share: 0.8", "share: 0", STATUS_INVALID,
                 "job.yml:15:12: stages[0].share: \"0\" is out of range: write a number from 0.000000001 to 1"},
                {"share: 0.8", "share: 1.1", STATUS_INVALID,
                 "job.yml:15:12: stages[0].share: \"1.1\" is out of range: write a number from 0.000000001 to 1"},
                {"share: 0.8", "share: 0.1234567891", STATUS_INVALID,
                 "job.yml:15:12: stages[0].share: \"0.1234567891\" has more than 9 decimal places: round it"},
                {"share: 0.8", "share: 0.000000001", STATUS_INVALID,
                 "job.yml:15:12: stages[0].share: leaves an answer less than a millionth of epsilon: raise it, or list fewer lambdas"},
                {"-0.5, 0.5", "0, 0.5", STATUS_INVALID,
                 "job.yml:16:34: stages[0].experts.shifts: holds 0, which is the average itself: remove it"},
                {"-0.5, 0.5", "0.5, 0.5", STATUS_INVALID,
                 "job.yml:16:34: stages[0].experts.shifts: holds one shift twice: remove it"},
                {"own: true", "own_weight: 0.6", STATUS_INVALID,
                 "job.yml:16:27: stages[0].experts.own_weight: weighs experts that `own: false` leaves out: remove it, or set own to true"},
                {"own: true", "own: true, own_weight: 0", STATUS_INVALID,
                 "job.yml:16:38: stages[0].experts.own_weight: \"0\" is out of range: write a number from 0.001 to 1000"},
                {"own: true", "own: true, own_weight: .nan", STATUS_INVALID,
                 "job.yml:16:38: stages[0].experts.own_weight: \".nan\" is not a number: write it like 0.6"},
                {"own: true", "own: yess", STATUS_INVALID,
                 "job.yml:16:20: stages[0].experts.own: \"yess\" is neither true nor false: write one of the two"},
                {"own: true", "on: true", STATUS_INVALID,
                 "job.yml:16:15: stages[0].experts.on: \"on\" is not a key here; did you mean \"own\"?"},
                {"tolerance: 0.0001", "tolerance: 2", STATUS_INVALID,
                 "job.yml:17:16: stages[0].tolerance: \"2\" is out of range: write a number from 1e-12 to 1"},
                {"grid_bits: 16", "grid_bits: 41", STATUS_INVALID,
                 "job.yml:18:16: stages[0].grid_bits: \"41\" is out of range: write a number from 0 to 40"},
                {"grid_bits: 16", "batch: 5", STATUS_INVALID,
                 "job.yml:18:12: stages[0].batch: is for tasks that look at so many records: remove it"},
                {"grid_bits: 16", "rounds: 5", STATUS_INVALID,
                 "job.yml:18:13: stages[0].rounds: is for a losses stage (a fit has one per lambda): remove it"},
                {"grid_bits: 16", "grid_bits: 40", STATUS_INVALID,
                 "job.yml:12:5: stages[0]: noise for sensitivity 1731556000684 grid steps at epsilon 0.266666 is outside the scales 1/16 .. 2^40: choose another grid or epsilon"},
                {"loss: hinge", "loss: hinge\n    strategy: rwm", STATUS_INVALID,
                 "job.yml:14:15: stages[0].strategy: does not go with the task: fit, online, predict and statistics take average, losses takes rwm (under trust central also theorem, dartboard, epochs), query takes answer, select takes noisy_min, exponential or permute_and_flip, update takes average, momentum or adam"},
                {"strategy: rwm", "strategy: average", STATUS_INVALID,
                 "job.yml:20:15: stages[1].strategy: does not go with the task: fit, online, predict and statistics take average, losses takes rwm (under trust central also theorem, dartboard, epochs), query takes answer, select takes noisy_min, exponential or permute_and_flip, update takes average, momentum or adam"},
                {"rounds: 12", "rounds: 0", STATUS_INVALID,
                 "job.yml:22:13: stages[1].rounds: \"0\" is out of range: write a number from 1 to 100000"},
                {"    rounds: 12\n", "", STATUS_INVALID,
                 "job.yml:19:5: stages[1].rounds: is missing: add it, for example `rounds: 12`"},
                {"    batch: 100\n", "", STATUS_INVALID,
                 "job.yml:19:5: stages[1].batch: is missing: add it, for example `batch: 100`"},
                {"batch: 100", "lambdas: [1]", STATUS_INVALID,
                 "job.yml:23:14: stages[1].lambdas: is for a fit, statistics or predict stage: remove it"},
                {"batch: 100", "batch: 100\n    tolerance: 1", STATUS_INVALID,
                 "job.yml:24:16: stages[1].tolerance: is for a fit or predict stage: remove it"},
                {"batch: 100", "batch: 100\n    experts: {own: true}", STATUS_INVALID,
                 "job.yml:24:14: stages[1].experts: is for a fit or predict stage: remove it"},
                {"batch: 100", "batch: 1000000000\n    grid_bits: 40", STATUS_INVALID,
                 "job.yml:12:5: stages[0]: a fit takes fewer than 2^31 records and features"},
                {"share: 0.2", "share: 0.2\n    grid_bits: 40", STATUS_INVALID,
                 "job.yml:19:5: stages[1]: noise for sensitivity 854320534781952 grid steps at epsilon 0.2 is outside the scales 1/16 .. 2^40: choose another grid or epsilon"},
                {"task: fit\n    loss: hinge\n    lambdas: [0.003, 0.01, 0.1]\n    share: 0.8\n    experts: {own: true, shifts: [-0.5, 0.5]}\n    tolerance: 0.0001\n    grid_bits: 16\n  - ",
                 "", STATUS_INVALID,
                 "job.yml:12:11: stages[0].task: has no experts to judge: put a fit stage before this one, or write forecasters into it"},
                {"0.003, 0.01, 0.1",
                 "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223, 224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255, 256, 257, 258, 259, 260, 261, 262, 263, 264, 265, 266, 267, 268, 269, 270, 271, 272, 273, 274, 275, 276, 277, 278, 279, 280, 281, 282, 283, 284, 285, 286, 287, 288, 289, 290, 291, 292, 293, 294, 295, 296, 297, 298, 299, 300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 310, 311, 312, 313, 314, 315, 316, 317, 318, 319, 320, 321, 322, 323, 324, 325, 326, 327, 328, 329, 330, 331, 332, 333, 334, 335, 336, 337, 338, 339, 340, 341, 342, 343, 344, 345, 346, 347, 348, 349, 350, 351, 352, 353, 354, 355, 356, 357, 358, 359, 360, 361, 362, 363, 364, 365, 366, 367, 368, 369, 370, 371, 372, 373, 374, 375, 376, 377, 378, 379, 380, 381, 382, 383, 384, 385, 386, 387, 388, 389, 390, 391, 392, 393, 394, 395, 396, 397, 398, 399, 400",
                 STATUS_INVALID,
                 "job.yml:12:5: stages[0]: makes up to 103600 experts with 256 agents, and 100000 are the most: list fewer lambdas or shifts, or set experts.own to false"},
                {"tolerance: 0.0001", "tolerance: 1e-12", STATUS_INVALID,
                 "job.yml:12:5: stages[0]: the solver's tolerance is finer than double precision can promise for this lambda: raise the tolerance"},
};

Test(job_refusals, name_place_key_and_remedy)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *refusal = &refusals[i];
        struct job job;
        struct why why = {{0}};
        char text[8192];
        const char *at = strstr(job_text, refusal->from);
        cr_assert_not_null(at, "%s", refusal->from);
        int length = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - job_text), job_text,
                              refusal->to, at + strlen(refusal->from));
        enum status status = job_parse(&job, (struct slice){text, (size_t)length}, "job.yml", &why);
        cr_expect_eq(status, refusal->status, "%s", text);
        cr_expect_str_eq(why.text, refusal->message, "%s -> %s gave: %s", refusal->from,
                         refusal->to, why.text);
        cr_expect(job.stage == NULL && job.schema.column == NULL, "a refused job is zeroed");
    }
}

Test(job_refusals, need_no_listener)
{
    struct job job;
    cr_assert_eq(job_parse(&job, (struct slice){NULL, 0}, "job.yml", NULL), STATUS_INVALID);
    cr_assert_eq(job_parse(&job, (struct slice){"hedgerow: 1\n", 12}, "job.yml", NULL),
                 STATUS_INVALID);
}
