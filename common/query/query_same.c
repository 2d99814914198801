/* query_same.c - a question is what each record adds to its cells: two are the same where that is equal on enough records. What
 * the cells mean stands in the kind and in the columns, and is compared as it is written. */

#include "query/query_same.h"

#include "base/even.h"
#include "query/made_rows.h"
#include "query/query_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GRID_BITS = 16,
    PRINT_ROWS = 256,
    LARGE = 512, /* cells */
    PRINT_ROWS_OF_LARGE = 32,
    WORK_OF_ROW = 32,    /* beside its cells */
    WORK_OF_TRIAL = 1024 /* beside its rows */
};

/* For that many rows, each of which adds to that many cells. */
static uint64_t work_of(uint64_t rows, size_t cells)
{
    return rows * (cells + WORK_OF_ROW);
}

/* Whether this much may still be done, and there is something to do. */
static bool has_work(uint64_t work, uint64_t rows, size_t cells)
{
    return rows > 0 && rows <= work / (cells + WORK_OF_ROW);
}

/* Where a number's levels end, so that `x` and `whole(x)` are told apart where these differ, and there alone. Rounded, as the same
 * edge may be computed in two ways. */
static uint64_t print_of_edges(const struct query_variable *variable)
{
    const double fine = 1048576;
    const struct column *column = &variable->column;
    const double width = predicate_value(column, column->centre + column->half_width) -
                         predicate_value(column, column->centre - column->half_width);
    uint64_t print = made_mix(variable->levels);
    for (size_t k = 0; k + 1 < variable->levels; k++) {
        print = made_mix(print ^ even_bits(round(variable->step[k] / width * fine)));
    }
    return print;
}

/* For a logistic regress `death` and `death == 1` may be the same: what decides is what records add. */
static uint64_t print_of_words(const struct query *query)
{
    const bool has_column = query->kind != QUERY_REGRESS || query->family != REGRESS_LOGISTIC;
    uint64_t variables = 0; /* in any order */
    uint64_t print = made_mix(query->kind);
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        variables += made_mix(4 * (uint64_t)variable->column_index + (variable->is_log ? 1 : 0) +
                              (variable->is_factor ? 2 : 0));
        if (query->kind == QUERY_REGRESS && variable->column.kind == COLUMN_NUMBER) {
            variables += made_mix(print_of_edges(variable) ^ ~(uint64_t)variable->column_index);
        }
    }
    print = made_mix(print ^ variables);
    print = made_mix(print ^ (has_column ? query->column_index : 0));
    print = made_mix(print ^ query->family);
    print = made_mix(print ^ query->cut_band);
    print = made_mix(print ^ (query->intervals_are_asked ? 1U : 0U) ^
                     (query->steps_are_asked ? 2U : 0U));
    return made_mix(print ^ even_bits(query->end));
}

/* The chosen model of one stage may be another one in the next. */
static bool judge_one_model(const struct query *a, const struct query *b, size_t features)
{
    const struct query_score *x = a->score;
    const struct query_score *y = b->score;
    if (x == y || x == NULL || y == NULL) {
        return x == y;
    }
    return x->weight != NULL && y->weight != NULL && x->is_number == y->is_number &&
           (!x->is_number || (x->centre == y->centre && x->half_width == y->half_width)) &&
           memcmp(x->weight, y->weight, features * sizeof *x->weight) == 0;
}

/* What rows have added to a question's cells so far. */
struct sums {
    const struct query *query;
    int64_t *sum;   /* (cell_count) of one row */
    uint64_t *hash; /* (cell_count) of all rows */
    uint64_t first; /* what the first row added, and where */
    bool varies;    /* with the rows */
};

static bool sums_init(struct sums *sums, const struct query *query)
{
    *sums = (struct sums){.query = query,
                          .sum = calloc(query->cell_count, sizeof *sums->sum),
                          .hash = calloc(query->cell_count, sizeof *sums->hash)};
    return sums->sum != NULL && sums->hash != NULL;
}

static void sums_free(struct sums *sums)
{
    free(sums->sum);
    free(sums->hash);
}

/* Returns a number that is equal where what is added is, in whatever order. */
static uint64_t sums_add(struct sums *sums, const struct row *row, uint64_t index, double share)
{
    const struct query *query = sums->query;
    const struct column *column = &query->column;
    const double threshold = column->centre + column->half_width * (2 * share - 1);
    uint64_t print = 0;
    uint64_t places = 0;
    memset(sums->sum, 0, query->cell_count * sizeof *sums->sum);
    query_add(sums->sum, query, GRID_BITS, threshold, row);
    for (size_t i = 0; i < query->cell_count; i++) {
        if (sums->sum[i] != 0) {
            const uint64_t added = made_mix((uint64_t)sums->sum[i]);
            sums->hash[i] += made_mix(made_mix(index) ^ added);
            print += added;
            places += made_mix(made_mix(i) ^ added);
        }
    }
    sums->first = index == 0 ? places : sums->first;
    sums->varies = sums->varies || places != sums->first;
    return print;
}

/* A number that is equal where the cells' are, in whatever order. */
static uint64_t sums_print(const struct sums *sums)
{
    uint64_t print = 0;
    for (size_t i = 0; i < sums->query->cell_count; i++) {
        print += made_mix(sums->hash[i]);
    }
    return print;
}

static int compare_hashes(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Whether the cells' columns are equal, in whatever order. */
static bool are_equal(struct sums *a, struct sums *b)
{
    const size_t cells = a->query->cell_count;
    qsort(a->hash, cells, sizeof *a->hash, compare_hashes);
    qsort(b->hash, cells, sizeof *b->hash, compare_hashes);
    return memcmp(a->hash, b->hash, cells * sizeof *a->hash) == 0;
}

/* What is done with the rows of two questions. */
struct trial {
    struct made_rows rows;
    struct sums a;
    struct sums b;
};

enum tried { TRIED_OTHER, TRIED_SAME, TRIED_TOO_MANY /* rows to try */ };

/* Only complete rows, and these must not all be equal. Otherwise other rows decide what the
 * questions are about. */
static enum tried try_rows(struct trial *trial, bool is_complete, uint64_t *work)
{
    struct made_rows *rows = &trial->rows;
    struct sums *a = &trial->a;
    struct sums *b = &trial->b;
    const uint64_t count = rows->combinations * rows->repeats;
    const size_t cells = 2 * a->query->cell_count;
    struct row row;
    uint64_t done = 0;
    bool is_alike = true;
    if (!has_work(*work, count, cells)) {
        return TRIED_TOO_MANY;
    }
    for (; done < count && is_alike; done++) {
        const double share = made_rows_make(&row, rows, done);
        is_alike = sums_add(a, &row, done, share) == sums_add(b, &row, done, share);
    }
    *work -= work_of(done, cells);
    return is_alike && (a->varies || !is_complete) && are_equal(a, b) ? TRIED_SAME : TRIED_OTHER;
}

/* trial_end, whatever it returns. */
static enum status trial_begin(struct trial *out, const struct query *a, const struct query *b,
                               const struct schema *schema, bool is_complete, uint64_t *work)
{
    const bool has_memory = sums_init(&out->a, a);
    *work -= *work < WORK_OF_TRIAL ? *work : WORK_OF_TRIAL;
    enum status status = sums_init(&out->b, b) && has_memory ? STATUS_OK : STATUS_NO_MEMORY;
    made_rows_init(&out->rows, schema);
    if (status == STATUS_OK) {
        status = made_rows_add(&out->rows, a);
    }
    if (status == STATUS_OK) {
        status = made_rows_add(&out->rows, b);
    }
    return status == STATUS_OK ? made_rows_settle(&out->rows, (struct made_kind){true, is_complete})
                               : status;
}

static void trial_end(struct trial *trial)
{
    made_rows_free(&trial->rows);
    sums_free(&trial->a);
    sums_free(&trial->b);
}

/* Whether each row adds the same to both. */
static enum status try_all(enum tried *out, const struct query *a, const struct query *b,
                           const struct schema *schema, bool is_complete, uint64_t *work)
{
    struct trial trial;
    const enum status status = trial_begin(&trial, a, b, schema, is_complete, work);
    *out = status == STATUS_OK ? try_rows(&trial, is_complete, work) : TRIED_OTHER;
    trial_end(&trial);
    return status;
}

/* For a question whose records are in one cell at most: returns which it is, of the first `cells`; else `cells`. */
static size_t place_of(const struct sums *sums, size_t cells)
{
    size_t place = 0;
    while (place < cells && sums->sum[place] == 0) {
        place++;
    }
    return place;
}

/* Which cell of a each cell of b belongs to: to (cells of b), each the number of cells of a where no row was in it. */
static bool try_sums(size_t *to, struct trial *trial, size_t cells_of_b, uint64_t *work)
{
    const size_t cells = trial->a.query->cell_count;
    const uint64_t count = trial->rows.combinations * trial->rows.repeats;
    struct row row;
    const size_t both = cells + trial->b.query->cell_count;
    bool *is_seen = calloc(cells_of_b, sizeof *is_seen);
    bool is = is_seen != NULL && has_work(*work, count, both);
    uint64_t done = 0;
    for (; is && done < count; done++) {
        const double share = made_rows_make(&row, &trial->rows, done);
        (void)sums_add(&trial->a, &row, done, share);
        (void)sums_add(&trial->b, &row, done, share);
        const size_t at = place_of(&trial->b, cells_of_b);
        const size_t own = place_of(&trial->a, cells);
        if (at == cells_of_b) {
            is = own == cells; /* nobody tells of this record */
        } else {
            is = !is_seen[at] || to[at] == own;
            is_seen[at] = true;
            to[at] = own;
        }
    }
    *work -= work_of(done, both);
    free(is_seen);
    return is;
}

static size_t most_summed(const size_t *to, size_t cells_of_b, size_t cells)
{
    size_t most = 0;
    for (size_t i = 0; i < cells; i++) {
        size_t summed = 0;
        for (size_t j = 0; j < cells_of_b; j++) {
            summed += to[j] == i ? 1 : 0;
        }
        most = summed > most ? summed : most;
    }
    return most;
}

enum status query_find_sums(size_t *cells, const struct query *question, const struct query *other,
                            const struct schema *schema, uint64_t *work)
{
    const bool is_crosstab = other->kind == QUERY_CROSSTAB; /* its last cell is told by none */
    const size_t cells_of_other = other->cell_count - (is_crosstab ? 1 : 0);
    struct trial trial;
    *cells = 0;
    if ((question->kind != QUERY_COUNT && question->kind != QUERY_HISTOGRAM) ||
        (!is_crosstab && other->kind != QUERY_HISTOGRAM) || *work == 0) {
        return STATUS_OK;
    }
    enum status status = trial_begin(&trial, question, other, schema, false, work);
    size_t *to = malloc(cells_of_other * sizeof *to);
    for (size_t i = 0; to != NULL && i < cells_of_other; i++) {
        to[i] = question->cell_count;
    }
    status = to == NULL ? STATUS_NO_MEMORY : status;
    if (status == STATUS_OK && try_sums(to, &trial, cells_of_other, work)) {
        *cells = most_summed(to, cells_of_other, question->cell_count);
    }
    free(to);
    trial_end(&trial);
    return status;
}

bool query_is_planned(const struct query *query)
{
    return query_kinds[query->kind].plan != NULL;
}

void query_plan_as_any(struct query *query)
{
    query_plan(query, &(struct query_public){.records = 1000, .variance = 100});
}

enum status query_compare(enum query_likeness *out, const struct query *a, const struct query *b,
                          const struct schema *schema, uint64_t *work)
{
    enum tried tried;
    *out = QUERY_OTHER;
    if (print_of_words(a) != print_of_words(b) || a->cell_count != b->cell_count ||
        !judge_one_model(a, b, schema_feature_count(schema))) {
        return STATUS_OK;
    }
    if (strcmp(a->text, b->text) == 0) {
        *out = QUERY_SAME;
        return STATUS_OK;
    }
    if (*work == 0) {
        return STATUS_OK;
    }
    enum status status = try_all(&tried, a, b, schema, false, work);
    if (tried == TRIED_SAME) {
        *out = QUERY_SAME;
    } else if (status == STATUS_OK && tried == TRIED_OTHER) {
        status = try_all(&tried, a, b, schema, true, work);
        *out = tried == TRIED_SAME ? QUERY_SAME_IF_THERE : QUERY_OTHER;
    }
    return status;
}

static enum status print_of_rows(uint64_t *print, const struct query *query, struct made_rows *rows)
{
    struct sums sums;
    struct row row;
    const bool has_memory = sums_init(&sums, query);
    const uint64_t count = query->cell_count > LARGE ? PRINT_ROWS_OF_LARGE : PRINT_ROWS;
    for (uint64_t i = 0; i < count && has_memory; i++) {
        const double share = made_rows_make(&row, rows, i);
        (void)sums_add(&sums, &row, i, share);
    }
    *print = has_memory ? sums_print(&sums) : 0;
    sums_free(&sums);
    return has_memory ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status query_prints(uint64_t *print, const struct query *const *query, size_t count,
                         const struct schema *schema)
{
    struct made_rows rows;
    enum status status = STATUS_OK;
    made_rows_init(&rows, schema);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = made_rows_add(&rows, query[i]);
    }
    if (status == STATUS_OK) {
        status = made_rows_settle(&rows, (struct made_kind){false, true});
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        uint64_t of_rows = 0;
        status = print_of_rows(&of_rows, query[i], &rows);
        print[i] = made_mix(print_of_words(query[i]) ^ of_rows);
    }
    made_rows_free(&rows);
    return status;
}
