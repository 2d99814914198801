/* What the simulated studies of a setting tell: the words of its row, and what it has of each claim. */

#include "base/text.h"
#include "estimate/cells.h"
#include "estimate/survival.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of a setting whose shares are judged by the bound, and of one that is judged by what chance leaves possible. And of one whose widths
 * are judged: where noise hides some answers, the true cells' own is nearly hidden too. */
static const double shown_least = 0.1;
static const double rare_least = 0.01;
static const double width_shown_least = 0.9;

double intervals_share(const struct intervals_rate *rate)
{
    return rate->all == 0 ? NAN : (double)rate->yes / (double)rate->all;
}

void intervals_count(struct intervals_rate *rate, bool yes)
{
    rate->yes += yes;
    rate->all++;
}

void intervals_told_clear(struct intervals_told *told)
{
    for (size_t i = 0; i < INTERVALS_CLAIMS_MAX; i++) {
        told->taken[i] = (struct intervals_taken){.worst = {NAN, NAN, NAN, NAN}, .rare_worst = NAN};
    }
}

bool intervals_add_worst(struct intervals_worst *worst, const struct intervals_worst *own,
                         enum intervals_measure measure)
{
    const bool is_worse = measure == INTERVALS_HOLD ? own->measured < worst->measured
                                                    : own->measured > worst->measured;
    if (is_worse || (isnan(worst->measured) && !isnan(own->measured))) {
        *worst = *own;
        return true;
    }
    return false;
}

static double worse(const struct intervals_told *told, size_t claim, double a, double b)
{
    return told->kind->claim[claim].measure == INTERVALS_HOLD ? fmin(a, b) : fmax(a, b);
}

static void take(struct intervals_told *told, size_t claim, const struct intervals_worst *own,
                 uint64_t answers)
{
    struct intervals_taken *taken = &told->taken[claim];
    const bool is_first = isnan(taken->worst.measured);
    intervals_add_worst(&taken->worst, own, told->kind->claim[claim].measure);
    taken->fewest = is_first || answers < taken->fewest ? answers : taken->fewest;
}

/* The chance of at most `yes` of `all`. */
static double chance_of_most(uint64_t yes, uint64_t all, double chance)
{
    const double odds = log(chance) - log1p(-chance);
    double term = (double)all * log1p(-chance);
    double sum = exp(term);
    for (uint64_t k = 1; k <= yes; k++) {
        term += odds + log((double)(all - k + 1) / (double)k);
        sum += exp(term);
    }
    return sum;
}

/* Clopper and Pearson 1934. */
double intervals_limit(uint64_t yes, uint64_t all, bool is_upper)
{
    enum { HALVINGS = 30 };
    static const double alarm = 0.001;
    double low = 0;
    double high = 1;
    if (!is_upper) {
        return 1 - intervals_limit(all - yes, all, true);
    }
    for (int i = 0; i < HALVINGS && yes < all; i++) {
        const double middle = (low + high) / 2;
        *(chance_of_most(yes, all, middle) > alarm ? &low : &high) = middle;
    }
    return high;
}

static void take_rare(struct intervals_told *told, size_t claim, const struct intervals_rate *rate,
                      size_t asked)
{
    struct intervals_taken *taken = &told->taken[claim];
    const bool is_judged = (double)rate->all >= rare_least * (double)asked;
    struct intervals_rate *together = is_judged ? &taken->rare : &taken->hardly;
    together->yes += rate->yes;
    together->all += rate->all;
    if (is_judged) {
        const uint64_t each = (asked + told->setting->runs - 1) / told->setting->runs;
        const uint64_t answers = (rate->all + each - 1) / each;
        const uint64_t yes = (uint64_t)llround(intervals_share(rate) * (double)answers);
        const bool is_least = told->kind->claim[claim].measure == INTERVALS_HOLD;
        const bool is_first = isnan(taken->rare_worst);
        taken->rare_worst =
            worse(told, claim, taken->rare_worst, intervals_limit(yes, answers, is_least));
        taken->rare_fewest =
            is_first || answers < taken->rare_fewest ? answers : taken->rare_fewest;
    }
}

/* A planted fault must show in both: there all rates are judged in both ways. */
void intervals_take(struct intervals_told *told, size_t claim, const struct intervals_rate *rate,
                    size_t asked, const struct intervals_width *width)
{
    const bool is_rare = (double)rate->all < shown_least * (double)asked;
    if (!is_rare) {
        take(told, claim,
             &(struct intervals_worst){intervals_share(rate), (double)rate->all / (double)asked,
                                       width == NULL ? NAN : intervals_over_exact(width),
                                       width == NULL ? NAN : intervals_over_true(width)},
             rate->all);
    }
    if (rate->all > 0 && (is_rare || told->setting->planted < 1)) {
        take_rare(told, claim, rate, asked);
    }
}

/* The error of the logarithm of their geometric mean. NAN for a single one, which is then not
 * taken. */
static double width_error(const struct intervals_width *width)
{
    const double count = (double)width->count;
    const double mean = width->logarithms / count;
    return sqrt(fmax(width->squares / count - mean * mean, 0) / (count - 1));
}

void intervals_take_width(struct intervals_told *told, size_t claim,
                          const struct intervals_width *width, size_t asked)
{
    if ((double)width->count >= width_shown_least * (double)asked) {
        const double chance = told->setting->is_short ? 4 * width_error(width) : 0;
        take(told, claim,
             &(struct intervals_worst){intervals_over_true(width) * exp(-chance),
                                       (double)width->count / (double)asked,
                                       intervals_over_exact(width), intervals_over_true(width)},
             width->count);
    }
}

void intervals_add_width(struct intervals_width *width, double released, double exact)
{
    if (isfinite(released) && isfinite(exact)) {
        intervals_add_released(width, released);
        width->exact += exact;
        width->exact_count++;
    }
}

void intervals_add_released(struct intervals_width *width, double released)
{
    if (isfinite(released)) {
        width->released += released;
        width->logarithms += log(released);
        width->squares += log(released) * log(released);
        width->count++;
    }
}

struct intervals_width intervals_together(const struct intervals_width *width, size_t count)
{
    struct intervals_width all = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        const bool is_each = width[i].by_true >= 0 && width[i].by_true <= 0;
        if (width[i].count > 0) {
            all.released += width[i].released;
            all.exact += width[i].exact;
            all.logarithms += width[i].logarithms;
            all.squares += width[i].squares;
            all.count += width[i].count;
            all.exact_count += width[i].exact_count;
            all.true_logarithms +=
                is_each ? width[i].true_logarithms : (double)width[i].count * log(width[i].by_true);
        }
    }
    return all;
}

double intervals_over_exact(const struct intervals_width *width)
{
    return width->released / (double)width->count / (width->exact / (double)width->exact_count);
}

double intervals_over_true(const struct intervals_width *width)
{
    const double own = width->logarithms / (double)width->count;
    const bool is_each = width->by_true >= 0 && width->by_true <= 0;
    return is_each ? exp(own - width->true_logarithms / (double)width->count)
                   : exp(own) / width->by_true; /* NAN of what the true cells refuse */
}

void intervals_judge(struct intervals_rate *rate, const struct estimate *estimate, double truth)
{
    if (!isnan(estimate->value)) {
        intervals_count(rate, estimate->low <= truth && truth <= estimate->high);
    }
}

double intervals_width_of(const struct estimate *estimate)
{
    return estimate->high - estimate->low;
}

double intervals_true_width(const double *value, size_t count, double low, double high)
{
    double sum = 0;
    double squares = 0;
    double widths = 0;
    for (size_t k = 0; k < count; k++) {
        sum += value[k];
        squares += value[k] * value[k];
    }
    const double mean = sum / (double)count;
    const double bar = ESTIMATE_Z * sqrt(fmax(squares / (double)count - mean * mean, 0));
    for (size_t k = 0; k < count; k++) {
        widths += fmin(fmax(value[k] + bar, low), high) - fmin(fmax(value[k] - bar, low), high);
    }
    return widths / (double)count;
}

void intervals_tell(struct intervals_told *told, size_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_add_list(told->text[column], INTERVALS_TEXT, format, arguments);
    va_end(arguments);
}

void intervals_tell_setting(struct intervals_told *told, const char *kind)
{
    const struct intervals_setting *setting = told->setting;
    intervals_tell(told, 0, "%s%s%s, %d x %d, epsilon %g", kind,
                   intervals_trust_name(intervals_trust(setting)),
                   setting->is_gaussian ? ", Gaussian" : "", INTERVALS_SITES,
                   (int)setting->site_records, setting->epsilon);
}

void intervals_tell_share(struct intervals_told *told, size_t column, const char *words,
                          const struct intervals_rate *rate)
{
    intervals_tell(told, column, "%s%.3f", words, intervals_share(rate));
}

void intervals_tell_shown(struct intervals_told *told, size_t column, const char *words,
                          const struct intervals_rate *rate, size_t asked)
{
    intervals_tell(told, column, "%s%.2f", words, (double)rate->all / (double)asked);
}

void intervals_tell_tests(struct intervals_told *told, const struct intervals_rate *rejected)
{
    intervals_tell_share(told, INTERVALS_OF_TESTS, "", rejected);
    intervals_tell_shown(told, INTERVALS_OF_TESTS, " of ", rejected, told->setting->runs);
}

void intervals_tell_width(struct intervals_told *told, const char *words,
                          const struct intervals_width *width)
{
    intervals_tell(told, INTERVALS_OF_WIDTHS, "%s%.2f, %.2f", words, intervals_over_exact(width),
                   intervals_over_true(width));
}

/* The worst settings of each question, trust and noise: a table of the study. */

void intervals_summary_clear(struct intervals_summary *summary)
{
    for (size_t i = 0; i < INTERVALS_TRUSTS * INTERVALS_NOISES; i++) {
        summary->worst[i / INTERVALS_NOISES][i % INTERVALS_NOISES].measured = NAN;
    }
}

void intervals_summary_add(struct intervals_summary *summary, const struct intervals_told *told)
{
    const size_t trust = intervals_trust(told->setting);
    const size_t noise = told->setting->is_gaussian ? 1 : 0;
    for (size_t i = 0; i < told->kind->claim_count; i++) {
        if (intervals_add_worst(&summary[i].worst[trust][noise], &told->taken[i].worst,
                                told->kind->claim[i].measure)) {
            (void)snprintf(summary[i].setting[trust][noise], INTERVALS_TEXT, "%s", told->text[0]);
        }
    }
}

static void write_question(char out[static STUDY_CELL_BYTES], const struct intervals_claim *claim)
{
    const char *rest = strstr(claim->text, ", the worst");
    const size_t length = rest == NULL ? strlen(claim->text) : (size_t)(rest - claim->text);
    (void)snprintf(out, STUDY_CELL_BYTES, "%.*s", (int)length, claim->text);
}

void intervals_summary_tell(struct study *study, const struct intervals_kind *kind,
                            const struct intervals_summary *summary)
{
    enum { QUESTION, NOISE, MEASURED, SHOWN, OVER_EXACT, OVER_TRUE, SETTING, COLUMNS };
    for (size_t i = 0; i < kind->claim_count * INTERVALS_TRUSTS * INTERVALS_NOISES; i++) {
        const size_t claim = i / INTERVALS_NOISES / INTERVALS_TRUSTS;
        const size_t trust = i / INTERVALS_NOISES % INTERVALS_TRUSTS;
        const size_t noise = i % INTERVALS_NOISES;
        const struct intervals_worst *worst = &summary[claim].worst[trust][noise];
        char text[COLUMNS][STUDY_CELL_BYTES] = {"", "", "", "-", "-", "-", ""};
        const char *cell[COLUMNS];
        if (isnan(worst->measured)) {
            continue;
        }
        write_question(text[QUESTION], &kind->claim[claim]);
        (void)snprintf(text[NOISE], sizeof text[0], "%s%s", intervals_trust_name(trust),
                       noise == 1 ? ", Gaussian" : "");
        (void)snprintf(text[MEASURED], sizeof text[0], "%.3f", worst->measured);
        (void)snprintf(text[SHOWN], sizeof text[0], "%.2f", worst->shown);
        if (isfinite(worst->over_exact)) {
            (void)snprintf(text[OVER_EXACT], sizeof text[0], "%.2f", worst->over_exact);
        }
        if (isfinite(worst->over_true)) {
            (void)snprintf(text[OVER_TRUE], sizeof text[0], "%.2f", worst->over_true);
        }
        (void)snprintf(text[SETTING], sizeof text[0], "%s", summary[claim].setting[trust][noise]);
        for (size_t k = 0; k < COLUMNS; k++) {
            cell[k] = text[k];
        }
        study_row(&study->summary, COLUMNS, cell);
    }
}
