/* The chosen model beside the truth on the last days of a few streams, for the report: exact records,
 * like all that the simulator judges by. */

#include "cli/simulation.h"

#include "learn/metrics.h"

#include <math.h>
#include <stdlib.h>

enum { FORECASTS_MAX = 4, FORECAST_DAYS = 56 };

static enum status tell(struct result_forecast *forecast, const struct label *label,
                        const struct dataset *held, const double *weight)
{
    const size_t days = held->record_count < FORECAST_DAYS ? held->record_count : FORECAST_DAYS;
    const size_t first = held->record_count - days;
    double *score = result_numbers(held->record_count);
    forecast->truth = result_numbers(days);
    forecast->told = result_numbers(days);
    if (score == NULL || forecast->truth == NULL || forecast->told == NULL) {
        free(score);
        return STATUS_NO_MEMORY;
    }
    forecast->day_count = days;
    metrics_class_scores(score, weight, 1, held);
    for (size_t i = 0; i < days; i++) {
        const double said = fmin(fmax(score[first + i], -1), 1);
        forecast->truth[i] = label->centre + label->half_width * held->y[first + i];
        forecast->told[i] = label->centre + label->half_width * said;
    }
    free(score);
    return STATUS_OK;
}

enum status simulation_forecast(struct simulation *simulation, const struct dataset *held,
                                const double *weight)
{
    struct result *result = &simulation->result;
    const size_t streams = simulation->stream != NULL ? simulation->agent_count : 0;
    enum status status =
        result_reserve_forecasts(result, streams < FORECASTS_MAX ? streams : FORECASTS_MAX);
    for (size_t i = 0; status == STATUS_OK && i < result->forecast_count; i++) {
        (void)snprintf(result->forecast[i].stream, sizeof result->forecast[i].stream, "%s",
                       simulation->stream[i].name);
        status = tell(&result->forecast[i], &simulation->job.schema.label, &held[i], weight);
    }
    return status;
}
