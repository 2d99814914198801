/* Questions and choices: counts of records, with a bar that holds with 95 %. */

#include "job/terms_lines.h"

#include <math.h>
#include <stdio.h>

static const double bar_misses = 0.05;

/* A mean's numerator is divided by the records that match; how many is not public. */
static void tell_mean(struct terms_line *line, const struct query *query,
                      const struct query_noise *noise, double step, double records)
{
    const double width = query->high - query->low;
    const double matching = query->is_partial ? records / 2 : records;
    const double ratio = query->is_partial ? 0.5 : 0;
    const char *half = query->is_partial ? ", if half of the records match" : "";
    (void)snprintf(line->what, sizeof line->what, "%s%s", query->text, half);
    (void)snprintf(line->unit, sizeof line->unit, "%s", query->column.name);
    line->noise = width * step * query_noise_deviation(noise) * sqrt(1 + ratio * ratio) / matching;
    line->bar = width * step * query_noise_bar(noise, ratio, bar_misses) / matching;
    line->burden = line->bar / (TERMS_TENTH * width);
    line->measure = "the 95 % bar is a tenth of the column's public range";
}

static void tell_question(struct terms_line *line, const struct query *query,
                          const struct query_noise *noise, double step, double records)
{
    const bool is_quantile = query->kind == QUERY_QUANTILE;
    if (query->kind == QUERY_MEAN) {
        tell_mean(line, query, noise, step, records);
        return;
    }
    (void)snprintf(line->what, sizeof line->what, "%s%s", query->text,
                   is_quantile                      ? ": each round's count"
                   : query->kind == QUERY_HISTOGRAM ? ": each cell"
                                                    : "");
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->noise = step * query_noise_deviation(noise);
    line->bar = step * query_noise_bar(noise, 0, bar_misses / (is_quantile ? query->rounds : 1));
    line->burden = line->bar / (TERMS_TENTH * records);
    line->measure = "the 95 % bar is a tenth of the records";
}

enum status terms_tell_queries(struct terms *terms, const struct terms_setting *setting,
                               struct why *why)
{
    const struct stage *stage = setting->stage;
    const double step = ldexp(1, -(int)stage->grid_bits);
    const double records = (double)setting->agents * (double)stage->batch;
    struct query_noise noise = {0};
    enum status status = terms_noise(&noise, setting, 0, why);
    for (size_t i = 0; i < stage->queries.count && status == STATUS_OK; i++) {
        struct terms_line *line = terms_add_line(terms);
        if (line == NULL) {
            return STATUS_NO_MEMORY;
        }
        tell_question(line, &stage->queries.query[i], &noise, step, records);
    }
    return status;
}

/* Deviation of the noise on one candidate's errors, or summed losses: records. */
static double select_noise(const struct terms_setting *setting, size_t count,
                           const struct query_noise *noise)
{
    const struct stage *stage = setting->stage;
    double most = 0;
    if (stage->among_experts) {
        return ldexp(query_noise_deviation(noise), -(int)stage->grid_bits);
    }
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, candidates_error_deviation(&stage->candidates, i, noise));
    }
    return most;
}

enum status terms_tell_select(struct terms *terms, const struct terms_setting *setting,
                              struct why *why)
{
    const struct stage *stage = setting->stage;
    const bool among_experts = stage->among_experts;
    const size_t count = among_experts ? setting->experts : candidates_count(&stage->candidates);
    const double records = (double)setting->agents * (double)stage->batch;
    const char *what = among_experts ? "experts" : "candidates";
    struct query_noise noise = {0};
    enum status status = terms_noise(&noise, setting, 0, why);
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    (void)snprintf(line->unit, sizeof line->unit, "records");
    if (round_is_drawn(setting->job, stage)) {
        /* Scores of sensitivity S at epsilon: at most 2 S ln(count/beta)/epsilon above the least,
         * but for beta; a candidate's score is twice its errors. */
        const double above = 2 * noise.scale * log((double)count / bar_misses);
        (void)snprintf(line->what, sizeof line->what,
                       "one of %zu %s: its errors beyond the best one's", count, what);
        line->bar = among_experts ? ldexp(above, -(int)stage->grid_bits) : above / 2;
        line->burden = line->bar / (TERMS_TENTH * records);
        line->measure = "with 95 % it errs on a tenth of the records more than the best";
        return STATUS_OK;
    }
    (void)snprintf(line->what, sizeof line->what, "the errors of each of %zu %s", count, what);
    line->noise = select_noise(setting, count, &noise);
    line->burden = 2 * line->noise / (TERMS_TENTH * records);
    line->measure = "twice the deviation is a tenth of the records";
    return STATUS_OK;
}
