/* The question `evaluate` of a time: its text, a record's cell, and its answers. */

#include "query/query_run.h"

#include "estimate/concordance.h"
#include "toy_question.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { BITS = 8, ONE = 1 << BITS, N = 4, OWN = N * (2 * N + 1) };

static size_t cell_of(const struct query *query, double age, double sex, double kappa, double label)
{
    return only_cell_of(query, (const double[]){age, sex, kappa, 2}, label, BITS);
}

/* Scores are ages from 50 to 98, a bin twelve years; times are kappas, a bin one. */
Test(concordance_question, puts_a_record_into_the_bin_of_its_score_and_time)
{
    const struct query query = parsed("evaluate: age for time kappa event death by sex, to 4 in 4 "
                                      "bins where not kappa == 3.5");
    cr_assert(query.kind == QUERY_CONCORDANCE && query.cell_count == 2 * OWN + 1);
    cr_expect(cell_of(&query, 50, 0, 0.5, 1) == 0);
    cr_expect(cell_of(&query, 20, 0, 0, 1) == 0, "below the score's range: the first bin");
    cr_expect(cell_of(&query, 62, 0, 0.5, 1) == 1, "at an edge of the score: above it");
    cr_expect(cell_of(&query, 200, 0, 0.5, 1) == 3);
    cr_expect(cell_of(&query, 50, 0, 1, 1) == 0, "a death at a bin's end is in it");
    cr_expect(cell_of(&query, 50, 0, 1, -1) == (N + 1) * N, "a censoring in the next");
    cr_expect(cell_of(&query, 50, 0, 4, 1) == 3 * N);
    cr_expect(cell_of(&query, 50, 0, 4, -1) == 2 * N * N, "there at the end");
    cr_expect(cell_of(&query, 75, 0, 4.1, 1) == 2 * N * N + 2, "a death behind it, too");
    cr_expect(cell_of(&query, 75, 1, 2.5, -1) == OWN + (N + 2) * N + 2);
    cr_expect(cell_of(&query, NAN, 0, 1, 1) == 2 * OWN, "no score");
    cr_expect(cell_of(&query, 60, 0, NAN, 1) == 2 * OWN, "no time");
    cr_expect(cell_of(&query, 60, 0, -1, 1) == 2 * OWN, "a time below 0");
    cr_expect(cell_of(&query, 60, NAN, 1, 1) == 2 * OWN, "no group");
    cr_expect(cell_of(&query, 60, 0, 3.5, 1) == 2 * OWN, "left out");
}

Test(concordance_question, refuses_with_the_place_and_the_remedy)
{
    refuses("evaluate: age for time kappa by sex, to 4", "the word event and a column");
    refuses("evaluate: age for time kappa event death by sex", "a comma, to and the last time");
    refuses("evaluate: age for time kappa event death, to 40", "it must lie between 0 and");
    refuses("evaluate: age for time age event death, to 80", "the score is not its own time");
    refuses("evaluate: age for time sex event death, to 1", "character 24, \"sex\"");
    refuses("evaluate: age for time kappa event death, to 4 in 5 bins", "4, 6, 8, 10 or 12");
    refuses("evaluate: age for time kappa event death, to 4 in 8 levels", "the word bins");
    refuses("evaluate: age for time, cut at 74", "character 19, \"time\"");
}

/* The lowest scores survive, the highest die first: a perfect score. */
Test(concordance_question, answers_from_its_cells)
{
    const char *const text[] = {"evaluate: age for time kappa event death by sex, to 4 in 4 bins"};
    struct query_set set;
    struct query_run run;
    static int64_t sum[2 * OWN + 1];
    static struct query_answer answer[16];
    cr_assert(query_set_init(&set, text, 1, BITS, &toy_names, NULL) == STATUS_OK);
    for (size_t g = 0; g < 2; g++) {
        for (size_t j = 0; j < 3; j++) {
            sum[g * OWN + j * N + (g == 0 ? 3 - j : j + 1)] =
                50 * ONE; /* the second: the wrong way */
        }
        sum[g * OWN + 2 * N * N + (g == 0 ? 0 : 3)] = 100 * ONE;
    }
    sum[2 * OWN] = 20 * ONE;
    for (int noisy = 0; noisy < 2; noisy++) {
        const double scale = noisy == 0 ? 1e-9 : 200;
        cr_assert(query_run_init(&run, &set) == STATUS_OK);
        query_run_observe(&run, sum, &(struct query_noise){.scale = scale * ONE, .draws = 1}, 520);
        cr_assert(query_run_answer_count(&set) == 9 && query_run_point_count(&set) == 0);
        query_run_answers(answer, &run);
        cr_assert_str_eq(answer[6].name, "evaluate: age for time kappa event death by sex, to 4 in "
                                         "4 bins: age, C-index, F");
        cr_assert_str_eq(answer[5].group, "all");
        cr_assert_str_eq(answer[5].variable, "with the event");
        cr_assert_str_eq(answer[5].figure, "up to 4");
        if (noisy == 1) {
            cr_expect(isnan(answer[6].value));
            cr_expect(strstr(answer[6].note, "would be enough") != NULL, "%s", answer[6].note);
        } else {
            cr_expect(fabs(answer[2].value - 500) < 1e-6 && fabs(answer[3].value - 150) < 1e-6);
            cr_expect(fabs(answer[6].value - 1) < 1e-9, "%g", answer[6].value);
            cr_expect(answer[7].value < 0.2 && answer[7].total_low >= 0, "%g", answer[7].value);
            cr_expect(strstr(answer[6].note, "4 bins and the time in as many, up to 4") != NULL);
        }
        query_run_free(&run);
    }
    query_set_free(&set);
}
