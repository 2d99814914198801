/* query_survival.c - survival: how the question is read, and which cell a record is in. */

#include "base/check.h"
#include "base/even.h"
#include "query/query_kind.h"

#include <math.h>
#include <stdio.h>

size_t query_groups(const struct query *query)
{
    return query->split.step_count > 0 ? 2
           : query->factor_count == 0  ? 1
                                       : query->factor[0].column.category_count;
}

const char *query_group_name(const struct query *query, size_t group)
{
    return query->split.step_count > 0 ? query->group_name[group]
           : query->factor_count == 0  ? ""
                                       : query->factor[0].column.category[group];
}

static void set_intervals(struct query *query, size_t intervals, size_t block)
{
    CHECK(intervals >= 1 && intervals <= SURVIVAL_INTERVALS_MAX);
    query->intervals = intervals;
    query->block = block;
    query->cell_count = survival_released(query_groups(query), intervals, block);
    for (size_t j = 0; j < intervals; j++) {
        query->edge[j] = query->end * (double)(j + 1) / (double)intervals;
        query->edge_key[j] = even_key(query->edge[j]);
    }
}

void query_plan_survival(struct query *query, const struct query_public *known)
{
    const struct survival_public of_survival = {
        .records = known->records, .groups = query_groups(query), .variance = known->variance};
    struct survival_release release = {.intervals = query->intervals};
    double ratio = 0;
    if (query->intervals_are_asked) {
        release.block = survival_choose(&ratio, &of_survival, query->intervals, known->is_gaussian);
    } else {
        release = survival_plan(&of_survival, known->is_gaussian);
    }
    set_intervals(query, release.intervals, release.block);
}

static const double half_root = 0.70710678118654746; /* below 1 / sqrt(2) */

uint64_t query_survival_part(const struct query *query, uint64_t one)
{
    return query->block == 0 ? one : (uint64_t)((double)one * half_root);
}

double query_survival_share(const struct query *query)
{
    return query->block == 0 ? 1 : half_root;
}

/* Replaced, a record leaves a cell and enters another; and a sum and a sum. */
uint64_t query_sensitivity_survival(const struct query *query, uint64_t one)
{
    return (query->block == 0 ? 2 : 4) * query_survival_part(query, one);
}

double query_squared_survival(const struct query *query, double one)
{
    const double part = (double)query_survival_part(query, (uint64_t)one);
    return (query->block == 0 ? 2 : 4) * part * part;
}

bool query_is_column_alone(struct reader reader, size_t *index)
{
    static const char *const sign[] = {"<", "<=", ">", ">=", "==", "!="};
    reader.why = NULL;
    bool is_alone = reader_column(&reader, index) == STATUS_OK;
    for (size_t i = 0; i < sizeof sign / sizeof sign[0]; i++) {
        is_alone = is_alone && !reader_is(&reader, sign[i]);
    }
    return is_alone;
}

/* `death` alone, where it has two categories or classes: the second one, or the positive. Else a predicate. */
enum status query_read_event(struct reading *reading)
{
    struct query *query = reading->query;
    const struct reader at_column = reading->reader; /* a message points there */
    const struct schema *schema = at_column.schema;
    size_t index = 0;

    query->event.column_count = schema->column_count;
    if (!query_is_column_alone(at_column, &index)) {
        return predicate_read(&query->event, &reading->reader);
    }
    const bool is_label = index == schema->column_count;
    const bool has_two = is_label ? schema->label.kind == LABEL_SIGN
                                  : schema->column[index].kind == COLUMN_CATEGORY &&
                                        schema->column[index].category_count == 2;
    if (!has_two) {
        return reader_refuse(&at_column,
                             "this column does not have two categories: say which is the event, "
                             "such as death == 1");
    }
    query->event.step[0] =
        (struct predicate_step){.verb = PREDICATE_EQUAL, .column = index, .constant = 1};
    query->event.step_count = 1;
    return reader_column(&reading->reader, &index);
}

enum status query_read_end(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    if (!reader_accept(reader, ",") || !reader_accept(reader, "to")) {
        return reader_refuse(
            reader, "a comma, to and the last time is expected here, such as \", to 5000\"");
    }
    const struct token token = reader->token;
    const enum status status =
        reader_number(reader, &query->end, "the last time is expected here, such as 5000");
    if (status == STATUS_OK && !(query->end > 0 && query->end <= query->high)) {
        reader->token = token;
        char remedy[64];
        (void)snprintf(remedy, sizeof remedy, "it must lie between 0 and %g", query->high);
        return reader_refuse(reader, remedy);
    }
    return status;
}

/* The groups' names are the predicate as it is written, and its negation. */
static enum status read_split(struct reading *reading)
{
    struct query *query = reading->query;
    const struct reader *reader = &reading->reader;
    const size_t first = reader->token.at - 1;
    query->split.column_count = reader->schema->column_count;
    const enum status status = predicate_read(&query->split, &reading->reader);
    size_t size = reader->token.at - 1 - first;
    const char *text = (const char *)reader->text.data + first;
    while (size > 0 && text[size - 1] == ' ') {
        size--;
    }
    (void)snprintf(query->group_name[0], QUERY_TEXT_BYTES, "not %.*s", (int)size, text);
    (void)snprintf(query->group_name[1], QUERY_TEXT_BYTES, "%.*s", (int)size, text);
    return status;
}

enum status query_read_groups(struct reading *reading)
{
    const struct reader at_column = reading->reader;
    size_t index = 0;
    if (!query_is_column_alone(at_column, &index)) {
        return read_split(reading);
    }
    const enum status status = query_read_factor(reading);
    if (status == STATUS_OK && query_groups(reading->query) > SURVIVAL_GROUPS_MAX) {
        char remedy[64];
        (void)snprintf(remedy, sizeof remedy, "this has more than %d categories",
                       SURVIVAL_GROUPS_MAX);
        return reader_refuse(&at_column, remedy);
    }
    return status;
}

/* Whether groups are made of a column that says who has the event. */
static bool is_split_by_event(const struct query *query)
{
    for (size_t i = 0; i < query->event.step_count; i++) {
        const struct predicate_step *step = &query->event.step[i];
        if (step->verb < PREDICATE_NOT && predicate_compares(&query->split, step->column)) {
            return true;
        }
    }
    return query->factor_count > 0 &&
           predicate_compares(&query->event, query->factor[0].column_index);
}

enum status query_read_groups_of_event(struct reading *reading, bool has_time)
{
    struct query *query = reading->query;
    const struct reader at_group = reading->reader;
    const enum status status = query_read_groups(reading);
    const bool is_of_event = is_split_by_event(query);
    const bool is_of_time =
        has_time &&
        (predicate_compares(&query->split, query->column_index) ||
         (query->factor_count > 0 && query->factor[0].column_index == query->column_index));
    if (status == STATUS_OK && (is_of_event || is_of_time)) {
        return reader_refuse(&at_group, is_of_event
                                            ? "groups by the event itself tell nothing of it: name "
                                              "another column"
                                            : "groups by the time itself tell nothing of it: name "
                                              "another column");
    }
    return status;
}

enum status query_read_word_event(struct reading *reading)
{
    return reader_accept(&reading->reader, "event")
               ? query_read_event(reading)
               : reader_refuse(&reading->reader, "the word event and a column is expected here");
}

enum status query_read_until_end(struct reading *reading)
{
    enum status status = query_read_word_event(reading);
    if (status == STATUS_OK && reader_accept(&reading->reader, "by")) {
        status = query_read_groups_of_event(reading, true);
    }
    return status == STATUS_OK ? query_read_end(reading) : status;
}

enum status query_read_survival(struct reading *reading)
{
    static const struct query_number intervals = {.word = "intervals",
                                                  .least = SURVIVAL_INTERVALS_MIN,
                                                  .most = SURVIVAL_INTERVALS_MAX,
                                                  .each = 1};
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    enum status status = reader_accept(reader, "time")
                             ? query_read_column(reading, true)
                             : reader_refuse(reader, "the word time and a column is expected here");
    if (status == STATUS_OK) {
        status = query_read_until_end(reading);
    }
    query->intervals = QUERY_INTERVALS_DEFAULT;
    if (status == STATUS_OK && reader_accept(reader, "in")) {
        query->intervals_are_asked = true;
        status = query_read_number(&query->intervals, reading, &intervals);
    }
    if (status != STATUS_OK) {
        return status;
    }
    set_intervals(query, query->intervals, 0);
    return query_read_where(reading);
}

double query_group_of(const struct query_asked *asked)
{
    const struct query *query = asked->query;
    if (query->split.step_count > 0) {
        return even_keep(mask_of(predicate_holds(&query->split, asked->row)), 1);
    }
    return query->factor_count == 0
               ? 0
               : query_cell_of(asked->row, query->factor[0].column_index, query->label_kind);
}

/* Every cell is gone through, whatever the record is. Each time is in one interval of either kind, and each group in one place:
 * what is added to all cells together is one part, and to all sums together one at most. Who died or was lost at time 0 was under
 * observation for no time: within the first interval, where they would count as even over it, they would bias the curve. */
void query_add_survival(int64_t *sum, const struct query_asked *asked)
{
    const struct query *query = asked->query;
    const uint64_t one = query_survival_part(query, UINT64_C(1) << asked->grid_bits);
    const double time = query_cell_of(asked->row, query->column_index, query->label_kind);
    const int64_t at = even_key(time);
    const uint64_t is_known = asked->holds & ~even_is_nan(time) & mask_of(at > 0);
    const uint64_t dies = mask_of(predicate_holds(&query->event, asked->row));
    const size_t groups = query_groups(query);
    const size_t k = query->intervals;
    const double group = query_group_of(asked);
    const size_t sums = query->block == 0 ? 0 : survival_released(1, k, query->block) - 2 * k - 2;
    int64_t *of_block = sum + groups * (2 * k + 1) + 1;
    uint64_t placed = 0;

    for (size_t g = 0; g < groups; g++) {
        const uint64_t own = is_known & mask_of(group == (double)g);
        int64_t *cell = sum + g * (2 * k + 1);
        uint64_t died_later = own & dies;
        uint64_t censored_later = own & ~dies;
        for (size_t j = 0; j < k; j++) {
            const uint64_t died_after = died_later & mask_of(at > query->edge_key[j]);
            const uint64_t censored_after = censored_later & mask_of(at >= query->edge_key[j]);
            const int64_t dies_here = (int64_t)(one & died_later & ~died_after);
            const int64_t censored_here = (int64_t)(one & censored_later & ~censored_after);
            cell[j] += dies_here;
            cell[k + j] += censored_here;
            if (sums > 0) {
                of_block[j / query->block] += dies_here;
                of_block[(k - 1) / query->block + 1 + j / query->block] += censored_here;
            }
            died_later = died_after;
            censored_later = censored_after;
        }
        const int64_t still_there = (int64_t)(one & (died_later | censored_later));
        cell[2 * k] += still_there;
        if (sums > 0) {
            of_block[sums - 1] += still_there;
        }
        of_block += sums;
        placed |= own;
    }
    sum[groups * (2 * k + 1)] += (int64_t)(one & ~placed);
}
