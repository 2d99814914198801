#include "http/facts.h"

#include "base/check.h"
#include "base/text.h"
#include "json/json_text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fact {
    size_t row;
    uint32_t job; /* by number; 0: none */
    double value;
    char label[FACT_LABELS_MAX][FACT_LABEL_BYTES];
    char *text; /* the last label of a list, owned, where it is longer; NULL: label has it */
};

struct facts {
    const struct fact_family *family;
    size_t family_count;
    struct fact *fact; /* (count) */
    size_t count;
    size_t room;
    uint32_t job;   /* of what is added */
    uint32_t shown; /* in the JSON */
    bool failed;
};

struct facts *facts_new(const struct fact_family *family, size_t count)
{
    struct facts *facts = calloc(1, sizeof *facts);
    if (facts != NULL) {
        facts->family = family;
        facts->family_count = count;
    }
    return facts;
}

void facts_free(struct facts *facts)
{
    if (facts != NULL) {
        for (size_t i = 0; i < facts->count; i++) {
            free(facts->fact[i].text);
        }
        free(facts->fact);
        free(facts);
    }
}

static size_t label_count(const struct fact_family *family)
{
    size_t count = 0;
    while (count < FACT_LABELS_MAX && family->label[count] != NULL) {
        count++;
    }
    return count;
}

static bool is_text(const char *text)
{
    json_t *string = json_string(text); /* which takes UTF-8 alone */
    const bool good = string != NULL;
    json_decref(string);
    return good;
}

/* Control letters become '?', and so does what is not ASCII where the text is not UTF-8, or is not any more once it is cut. */
static void copy_label(char *out, size_t room, const char *text)
{
    (void)snprintf(out, room, "%s", text);
    const bool whole = is_text(out);
    for (char *at = out; *at != '\0'; at++) {
        const unsigned char letter = (unsigned char)*at;
        if (letter < ' ' || letter == 0x7f || (letter > 0x7f && !whole)) {
            *at = '?';
        }
    }
}

static bool make_room(struct facts *facts)
{
    if (facts->count < facts->room) {
        return true;
    }
    const size_t room = facts->room == 0 ? 64 : 2 * facts->room;
    struct fact *grown = room > FACTS_MAX ? NULL : realloc(facts->fact, room * sizeof *grown);
    if (grown == NULL) {
        facts->failed = true;
        return false;
    }
    facts->fact = grown;
    facts->room = room;
    return true;
}

void facts_add(struct facts *facts, size_t row, double value, const char *const *label)
{
    CHECK(row < facts->family_count);
    CHECK(facts->job == 0 || facts->family[row].of_job);
    if (facts->failed || !make_room(facts)) {
        return;
    }
    struct fact *fact = &facts->fact[facts->count++];
    fact->row = row;
    fact->job = facts->job;
    fact->value = value;
    fact->text = NULL;
    const size_t count = label_count(&facts->family[row]);
    CHECK(count == 0 || label != NULL);
    for (size_t i = 0; i < count; i++) {
        copy_label(fact->label[i], sizeof fact->label[i], label[i]);
    }
    if (count > 0 && facts->family[row].kind == FACT_LIST &&
        strlen(label[count - 1]) >= FACT_LABEL_BYTES) {
        fact->text = malloc(FACT_TEXT_BYTES);
        if (fact->text == NULL) {
            facts->failed = true;
            return;
        }
        copy_label(fact->text, FACT_TEXT_BYTES, label[count - 1]);
    }
}

void facts_of_job(struct facts *facts, uint32_t number)
{
    facts->job = number;
}

void facts_show_job(struct facts *facts, uint32_t number)
{
    facts->shown = number;
}

void facts_set(struct facts *facts, size_t row, double value)
{
    CHECK(row < facts->family_count && label_count(&facts->family[row]) == 0);
    facts_add(facts, row, value, NULL);
}

void facts_set_of(struct facts *facts, size_t row, double value, const char *label)
{
    CHECK(row < facts->family_count && label_count(&facts->family[row]) == 1);
    facts_add(facts, row, value, &label);
}

void facts_set_state(struct facts *facts, size_t row, const char *const *name, size_t count,
                     const char *present)
{
    for (size_t i = 0; i < count; i++) {
        facts_set_of(facts, row, strcmp(name[i], present) == 0 ? 1 : 0, name[i]);
    }
}

/* Backslash, line's end and, where it stands in quotes, the quote are written with a backslash. */
static void put_escaped(FILE *out, const char *piece, bool quoted)
{
    for (; *piece != '\0'; piece++) {
        if (*piece == '\n' || *piece == '\\' || (quoted && *piece == '"')) {
            (void)fputc('\\', out);
        }
        (void)fputc(*piece == '\n' ? 'n' : *piece, out);
    }
}

static void put_value(FILE *out, double value)
{
    if (isnan(value)) {
        (void)fputs("NaN", out);
    } else if (isinf(value)) {
        (void)fputs(value > 0 ? "+Inf" : "-Inf", out);
    } else {
        (void)fprintf(out, "%.15g", value);
    }
}

static void put_label(FILE *out, size_t before, const char *name, const char *value)
{
    (void)fprintf(out, "%c%s=\"", before == 0 ? '{' : ',', name);
    put_escaped(out, value, true);
    (void)fputc('"', out);
}

static void put_sample(FILE *out, const struct fact_family *family, const struct fact *fact)
{
    char number[12];
    size_t labels = 0;
    (void)fprintf(out, "hedgerow_%s", family->name);
    if (fact->job != 0) {
        (void)snprintf(number, sizeof number, "%" PRIu32, fact->job);
        put_label(out, labels++, "job_number", number);
    }
    for (size_t i = 0; i < label_count(family); i++) {
        put_label(out, labels++, family->label[i], fact->label[i]);
    }
    (void)fputs(labels > 0 ? "} " : " ", out);
    put_value(out, fact->value);
    (void)fputc('\n', out);
}

static void put_head(FILE *out, const struct fact_family *family)
{
    (void)fprintf(out, "# HELP hedgerow_%s ", family->name);
    put_escaped(out, family->help, false);
    (void)fprintf(out, "\n# TYPE hedgerow_%s %s\n", family->name,
                  family->kind == FACT_COUNTER ? "counter" : "gauge");
}

char *facts_metrics(const struct facts *facts)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = facts->failed ? NULL : open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    for (size_t row = 0; row < facts->family_count; row++) {
        bool begun = false;
        for (size_t i = 0; i < facts->count && facts->family[row].kind != FACT_LIST; i++) {
            if (facts->fact[i].row != row) {
                continue;
            }
            if (!begun) {
                put_head(out, &facts->family[row]);
                begun = true;
            }
            put_sample(out, &facts->family[row], &facts->fact[i]);
        }
    }
    return text_close(&text, out) == STATUS_OK ? text : NULL;
}

/* A whole number is written as one. */
static json_t *value_json(double value)
{
    const double whole_most = 9007199254740992.0; /* 2^53 */
    if (value > -whole_most && value < whole_most && value == floor(value)) {
        return json_integer((json_int_t)value);
    }
    return json_number(value);
}

static json_t *row_json(const struct fact_family *family, const struct fact *fact)
{
    json_t *row = json_object();
    const size_t count = label_count(family);
    for (size_t i = 0; i < count; i++) {
        const bool is_long = i + 1 == count && fact->text != NULL;
        json_put(&row, family->label[i], json_string(is_long ? fact->text : fact->label[i]));
    }
    if (family->kind == FACT_GAUGE || family->kind == FACT_COUNTER) {
        json_put(&row, "value", value_json(fact->value));
    }
    return row;
}

/* A family's facts of one job, and of none where `also`; NULL: there are none. */
static json_t *family_json(const struct facts *facts, size_t row, uint32_t job, bool also)
{
    const struct fact_family *family = &facts->family[row];
    json_t *list = json_array();
    json_t *single = NULL;
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->fact[i];
        if (fact->row != row || (fact->job != job && !(also && fact->job == 0))) {
            continue;
        }
        if (label_count(family) > 0) {
            json_add(&list, row_json(family, fact));
        } else if (single == NULL) {
            single = value_json(fact->value);
        }
    }
    if (label_count(family) > 0 && (also || json_array_size(list) > 0)) {
        return list;
    }
    json_decref(list);
    return single;
}

static json_t *job_json(const struct facts *facts, uint32_t number)
{
    json_t *job = json_object();
    json_t *values = json_object();
    for (size_t row = 0; row < facts->family_count; row++) {
        const bool told = facts->family[row].of_job && facts->family[row].kind != FACT_LIST;
        json_t *value = told ? family_json(facts, row, number, false) : NULL;
        if (value != NULL) {
            json_put(&values, facts->family[row].name, value);
        }
    }
    json_put(&job, "job_number", json_integer(number));
    json_put(&job, "facts", values);
    return job;
}

/* In the order in which they were first told of. */
static json_t *jobs_json(const struct facts *facts)
{
    json_t *jobs = json_array();
    for (size_t i = 0; i < facts->count; i++) {
        const uint32_t number = facts->fact[i].job;
        bool told = number == 0;
        for (size_t j = i; j-- > 0 && !told;) {
            told = facts->fact[j].job == number;
        }
        if (!told) {
            json_add(&jobs, job_json(facts, number));
        }
    }
    return jobs;
}

char *facts_json(const struct facts *facts)
{
    json_t *root = json_object();
    json_t *values = json_object();
    json_t *help = json_object();
    bool of_jobs = false;
    for (size_t row = 0; row < facts->family_count; row++) {
        const struct fact_family *family = &facts->family[row];
        json_t *value = family_json(facts, row, facts->shown, true);
        of_jobs = of_jobs || family->of_job;
        json_put(&values, family->name,
                 value == NULL && label_count(family) == 0 ? json_null() : value);
        json_put(&help, family->name, json_string(family->help));
    }
    json_put(&root, "facts", values);
    if (of_jobs) {
        json_put(&root, "jobs", jobs_json(facts));
        json_put(&root, "shown",
                 facts->shown == 0 ? json_null() : json_integer((json_int_t)facts->shown));
    }
    json_put(&root, "help", help);
    char *text = facts->failed ? NULL : json_text(root, 1, 15);
    json_decref(root);
    return text;
}

static const struct fact_family common_rows[] = {FACTS_COMMON(false)};
static_assert(sizeof common_rows / sizeof common_rows[0] == FACTS_COMMON_COUNT, "every row");

double facts_epsilon(uint64_t micro)
{
    return micro == UINT64_MAX ? INFINITY : (double)micro / 1e6;
}

double facts_delta(uint64_t atto)
{
    return atto == UINT64_MAX ? INFINITY : (double)atto / 1e18;
}

void facts_add_common(struct facts *facts, size_t first, const struct facts_common *common)
{
    const char *const build[] = {common->program, HEDGEROW_VERSION};
    (void)common_rows;
    facts_set_of(facts, first, (double)common->messages_in, "in");
    facts_set_of(facts, first, (double)common->messages_out, "out");
    facts_set_of(facts, first + 1, (double)common->bytes_in, "in");
    facts_set_of(facts, first + 1, (double)common->bytes_out, "out");
    if (common->journal_bytes != FACTS_UNKNOWN) {
        facts_set(facts, first + FACTS_COMMON_JOURNAL, (double)common->journal_bytes);
    }
    facts_set(facts, first + 3, (double)common->started_ms / 1000);
    facts_add(facts, first + 4, 1, build);
}
