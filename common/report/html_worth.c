/* What the choice among candidates was worth, in a sentence for somebody who reads no chart. */

#include "report/html_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double html_loss_noise(const struct result *result)
{
    for (size_t i = 0; i < result->release_count; i++) {
        if (strcmp(result->release[i].unit, "loss") == 0 && isfinite(result->release[i].noise)) {
            return result->release[i].noise;
        }
    }
    return NAN;
}

size_t html_mean_loss(double *mean, const struct result *result, size_t expert)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < result->round_count; i++) {
        if (result->round[i].loss != NULL && isfinite(result->round[i].loss[expert])) {
            sum += result->round[i].loss[expert];
            count++;
        }
    }
    *mean = count == 0 ? NAN : sum / (double)count;
    return count;
}

/* The simulator judges every candidate on records that nobody learned from. */
static bool by_accuracy(FILE *page, const struct result *result)
{
    const double own = result->expert[result->chosen].accuracy;
    const double error = result_accuracy_error(result);
    double sum = 0;
    double best = -INFINITY;
    for (size_t i = 0; i < result->expert_count; i++) {
        sum += result->expert[i].accuracy;
        best = fmax(best, result->expert[i].accuracy);
    }
    const double average = sum / (double)result->expert_count;
    if (!isfinite(average) || !isfinite(own)) {
        return false;
    }
    /* Of the figures as they are shown: a reader subtracts them. */
    const double points = (round(1000 * own) - round(1000 * average)) / 10;
    (void)fputs("The candidate chosen is right on ", page);
    html_percent(page, own);
    (void)fputs(" of the records held out, one drawn at random on ", page);
    html_percent(page, average);
    (void)fputs(", and the best on ", page);
    html_percent(page, best);
    (void)fprintf(page, ": the choice %s %.1f points of accuracy.",
                  points < 0 ? "lost" : "was worth", fabs(points));
    if (isfinite(error) && fabs(points) < 200 * error) {
        (void)fprintf(
            page,
            " That is less than two standard errors of one such figure (%.1f points), so it may be chance.",
            200 * error);
    }
    return true;
}

static bool by_losses(FILE *page, const struct result *result)
{
    const double noise = html_loss_noise(result);
    double own = NAN;
    double sum = 0;
    size_t rounds = html_mean_loss(&own, result, (size_t)result->chosen);
    for (size_t i = 0; i < result->expert_count; i++) {
        double mean = NAN;
        (void)html_mean_loss(&mean, result, i);
        sum += mean;
    }
    const double gain = sum / (double)result->expert_count - own;
    if (!isfinite(gain)) {
        return false;
    }
    (void)fprintf(page,
                  "By the released losses, the candidate chosen errs by %.4f %s a record than one "
                  "drawn at random",
                  fabs(gain), gain < 0 ? "more" : "less");
    if (isfinite(noise)) {
        (void)fprintf(page, "; the noise alone would make such a difference of %.4f",
                      noise * sqrt((1 - 1 / (double)result->expert_count) / (double)rounds));
    }
    (void)fputs(". The same noisy losses made the choice, so they flatter it.", page);
    return true;
}

void html_worth(FILE *page, const struct result *result)
{
    if (result->chosen == RESULT_NONE || result->expert_count < 2) {
        return;
    }
    (void)fputs("<p><b>What the choice was worth</b>", page);
    if (!by_accuracy(page, result) && !by_losses(page, result)) {
        (void)fputs("Nobody may know: no loss of a candidate was released.", page);
        if (isfinite(result->regret.bound)) {
            (void)fprintf(page,
                          " The candidates played are expected to be at most %.4f worse a round "
                          "than the best one.",
                          result->regret.bound);
        }
    }
    (void)fputs("</p>\n", page);
}

void html_weights_said(char *text, size_t size, const struct result *result)
{
    const double noise = html_loss_noise(result);
    double low = INFINITY;
    double high = -INFINITY;
    double least = INFINITY;
    double most = -INFINITY;
    size_t rounds = 0;
    const double *weight = NULL;
    for (size_t i = 0; i < result->round_count; i++) {
        weight = result->round[i].weight != NULL ? result->round[i].weight : weight;
    }
    for (size_t i = 0; i < result->expert_count && weight != NULL; i++) {
        double mean = NAN;
        rounds = html_mean_loss(&mean, result, i);
        low = fmin(low, mean);
        high = fmax(high, mean);
        least = fmin(least, weight[i]);
        most = fmax(most, weight[i]);
    }
    int used = snprintf(text, size,
                        "The chance of each candidate to be played in the next round. "
                        "The job ends with the one of the largest weight.");
    if (used < 0 || (size_t)used >= size || !(most - least < 0.2) || !isfinite(noise)) {
        return;
    }
    const double error = noise / sqrt((double)rounds);
    (void)snprintf(text + used, size - (size_t)used,
                   " The weights stayed close together, as the candidates' mean losses differ by "
                   "%.3f at most, and the noise on each is \xc2\xb1 %.3f%s.",
                   high - low, error,
                   high - low < 3 * error ? ": these losses cannot tell which one is best" : "");
}
