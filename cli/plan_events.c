/* The events reader. A hostile file is as likely as a careless one, so its size and the number of
 * values in it are bounded before the JSON library makes a tree of it. */

#include "cli/plan_events.h"

#include "base/file.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field {
    FIELD_MECHANISM,
    FIELD_SCALE,
    FIELD_SIGMA,
    FIELD_EPSILON,
    FIELD_SENSITIVITY,
    FIELD_COUNT,
    FIELD_SAMPLING,
    FIELD_NEIGHBOURS,
    FIELD_DELTA,
    FIELD_MAX
};

static const char *const field_name[FIELD_MAX] = {[FIELD_MECHANISM] = "mechanism",
                                                  [FIELD_SCALE] = "scale",
                                                  [FIELD_SIGMA] = "sigma",
                                                  [FIELD_EPSILON] = "epsilon",
                                                  [FIELD_SENSITIVITY] = "sensitivity",
                                                  [FIELD_COUNT] = "count",
                                                  [FIELD_SAMPLING] = "sampling",
                                                  [FIELD_NEIGHBOURS] = "neighbours",
                                                  [FIELD_DELTA] = "delta"};

#define FIELDS     "mechanism, scale, sigma, epsilon, sensitivity, count, sampling, neighbours, delta"
#define MECHANISMS "laplace, discrete_laplace, gaussian, discrete_gaussian, exponential or pure"

enum { KEY_SHOWN_MAX = 32 };

struct reader {
    const char *name;
    size_t event; /* counted from 1 */
    struct why *why;
};

static enum status refuse(const struct reader *reader, const char *key, const char *problem)
{
    return why_refuse(reader->why, "%s: event %zu: \"%s\" %s", reader->name, reader->event, key,
                      problem);
}

/* What is shown of a key that no event has: a short plain word, or nothing, lest a file writes to
 * the terminal what it likes. */
static const char *shown(const char *key)
{
    size_t length = strlen(key);
    bool plain = length > 0 && length <= KEY_SHOWN_MAX;
    for (size_t i = 0; i < length && plain; i++) {
        plain = isalnum((unsigned char)key[i]) || strchr("_-. ", key[i]) != NULL;
    }
    return plain ? key : "(a name that cannot be shown)";
}

static enum status read_real(const struct reader *reader, double *out, const json_t *value,
                             enum field field)
{
    if (!json_is_number(value)) {
        return refuse(reader, field_name[field], "must be a number, without quotes");
    }
    *out = json_number_value(value);
    return STATUS_OK;
}

static enum status read_count(const struct reader *reader, uint64_t *out, const json_t *value)
{
    const double most = 9007199254740992.0; /* 2^53: every whole number up to it is a double */
    double real = json_number_value(value);
    if (!json_is_number(value) || !(real >= 0 && real <= most) || floor(real) != real ||
        (json_is_integer(value) && json_integer_value(value) > (json_int_t)most)) {
        return refuse(reader, "count", "must be a whole number from 0 to 2^53, without quotes");
    }
    *out = json_is_integer(value) ? (uint64_t)json_integer_value(value) : (uint64_t)real;
    return STATUS_OK;
}

static bool says(const json_t *value, const char *text)
{
    return text != NULL && json_is_string(value) && strcmp(json_string_value(value), text) == 0 &&
           json_string_length(value) == strlen(text);
}

static enum status read_mechanism(const struct reader *reader, enum mechanism *out,
                                  const json_t *value)
{
    for (unsigned i = 0; i < MECHANISM_COUNT; i++) {
        if (says(value, event_mechanism_name((enum mechanism)i))) {
            *out = (enum mechanism)i;
            return STATUS_OK;
        }
    }
    return refuse(reader, "mechanism", "must be " MECHANISMS ", in quotes");
}

static enum status read_neighbours(const struct reader *reader, enum neighbours *out,
                                   const json_t *value)
{
    static const enum neighbours all[] = {NEIGHBOURS_REPLACE_ONE, NEIGHBOURS_ADD_REMOVE};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (says(value, event_neighbours_name(all[i]))) {
            *out = all[i];
            return STATUS_OK;
        }
    }
    return refuse(reader, "neighbours", "must be replace-one or add-remove, in quotes");
}

/* The one of scale, sigma and epsilon that this mechanism has, and none of the others. */
static enum status read_parameter(const struct reader *reader, struct privacy_event *event,
                                  const json_t *const given[static FIELD_MAX])
{
    const char *wanted = event_parameter_name(event->mechanism);
    bool found = false;
    for (unsigned i = FIELD_SCALE; i <= FIELD_EPSILON; i++) {
        if (given[i] == NULL) {
            continue;
        }
        if (strcmp(field_name[i], wanted) != 0) {
            return why_refuse(reader->why,
                              "%s: event %zu: \"%s\" does not belong to %s: give \"%s\"",
                              reader->name, reader->event, field_name[i],
                              event_mechanism_name(event->mechanism), wanted);
        }
        enum status status = read_real(reader, &event->parameter, given[i], (enum field)i);
        if (status != STATUS_OK) {
            return status;
        }
        found = true;
    }
    if (!found) {
        return why_refuse(reader->why, "%s: event %zu: \"%s\" is missing: %s needs it",
                          reader->name, reader->event, wanted,
                          event_mechanism_name(event->mechanism));
    }
    return STATUS_OK;
}

/* Sorts the object's values by field; all keys must be known. */
static enum status sort(const struct reader *reader, const json_t *given[static FIELD_MAX],
                        json_t *object)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(object)) {
        return why_refuse(reader->why,
                          "%s: event %zu: must be an object: {\"mechanism\": ..., ...}",
                          reader->name, reader->event);
    }
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (i < FIELD_MAX && strcmp(key, field_name[i]) != 0) {
            i++;
        }
        if (i == FIELD_MAX) {
            return refuse(reader, shown(key), "is no field of an event; the fields are " FIELDS);
        }
        given[i] = value;
    }
    return STATUS_OK;
}

static enum status read_event(const struct reader *reader, struct privacy_event *event,
                              json_t *object)
{
    const json_t *given[FIELD_MAX] = {NULL};
    static const enum field real_field[] = {FIELD_SENSITIVITY, FIELD_SAMPLING, FIELD_DELTA};
    double *const real[] = {&event->sensitivity, &event->sampling, &event->delta};
    struct why range = {""};

    *event = (struct privacy_event){
        .neighbours = NEIGHBOURS_REPLACE_ONE, .sensitivity = 1, .count = 1, .sampling = 1};
    enum status status = sort(reader, given, object);
    if (status == STATUS_OK) {
        status = given[FIELD_MECHANISM] != NULL
                     ? read_mechanism(reader, &event->mechanism, given[FIELD_MECHANISM])
                     : refuse(reader, "mechanism", "is missing: it must be " MECHANISMS);
    }
    if (status == STATUS_OK) {
        status = read_parameter(reader, event, given);
    }
    for (size_t i = 0; i < sizeof real / sizeof real[0] && status == STATUS_OK; i++) {
        if (given[real_field[i]] != NULL) {
            status = read_real(reader, real[i], given[real_field[i]], real_field[i]);
        }
    }
    if (status == STATUS_OK && given[FIELD_COUNT] != NULL) {
        status = read_count(reader, &event->count, given[FIELD_COUNT]);
    }
    if (status == STATUS_OK && given[FIELD_NEIGHBOURS] != NULL) {
        status = read_neighbours(reader, &event->neighbours, given[FIELD_NEIGHBOURS]);
    }
    if (status == STATUS_OK) {
        status = privacy_event_check(event, &range);
        if (status != STATUS_OK) {
            why_set(reader->why, "%s: event %zu: %s", reader->name, reader->event, range.text);
        }
    }
    return status;
}

static enum status read_root(struct plan_events *out, struct reader *reader, const json_t *root)
{
    const json_t *list = json_object_get(root, "events");
    enum status status = STATUS_OK;
    if (!json_is_array(list) || json_object_size(root) != 1) {
        return why_refuse(reader->why,
                          "%s: must be {\"events\": [...]}, and nothing beside \"events\"",
                          reader->name);
    }
    size_t count = json_array_size(list);
    if (count == 0 || count > PLAN_EVENTS_MAX) {
        return why_refuse(reader->why,
                          "%s: \"events\" has %zu events: write 1 to %d; the same event many "
                          "times is one event with a \"count\"",
                          reader->name, count, (int)PLAN_EVENTS_MAX);
    }
    out->event = calloc(count, sizeof *out->event);
    if (out->event == NULL) {
        return STATUS_NO_MEMORY;
    }
    out->count = count;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        reader->event = i + 1;
        status = read_event(reader, &out->event[i], json_array_get(list, i));
    }
    return status;
}

/* Answers whether a tree of this text can have no more values than that many events need. */
static bool is_bounded(struct slice text)
{
    const char *byte = text.data;
    size_t lists = 0;
    size_t commas = 0;
    for (size_t i = 0; i < text.size; i++) {
        lists += byte[i] == '{' || byte[i] == '[';
        commas += byte[i] == ',';
    }
    return lists <= PLAN_EVENTS_MAX + 2 && commas <= (size_t)PLAN_EVENTS_MAX * FIELD_MAX;
}

static enum status refuse_text(const struct reader *reader, const json_error_t *error)
{
    const char *problem = "not JSON: numbers as 1 or 0.5 or 1e-6, words in quotes, no comma at the "
                          "end of a list";
    switch ((int)json_error_code(error)) {
    case json_error_out_of_memory:
        return STATUS_NO_MEMORY;
    case json_error_duplicate_key:
        problem = "a field is given twice: leave one of them out";
        break;
    case json_error_numeric_overflow:
        problem = "a number is too large: numbers must be finite, whole ones below 2^63";
        break;
    case json_error_stack_overflow:
        problem = "too many lists in one another: the file is {\"events\": [{...}, ...]}";
        break;
    case json_error_invalid_utf8:
        problem = "not UTF-8 text";
        break;
    default:
        break;
    }
    return why_refuse(reader->why, "%s: line %d, column %d: %s", reader->name, error->line,
                      error->column, problem);
}

enum status plan_events_parse(struct plan_events *out, struct slice text, const char *name,
                              struct why *why)
{
    struct reader reader = {.name = name, .why = why};
    enum status status = STATUS_INVALID;
    json_error_t error;
    json_t *root = NULL;

    *out = (struct plan_events){NULL, 0};
    if (text.size > PLAN_EVENTS_BYTES_MAX) {
        return why_refuse(why, "%s: larger than %d bytes", name, (int)PLAN_EVENTS_BYTES_MAX);
    }
    if (!is_bounded(text)) {
        return why_refuse(
            why, "%s: more than %d events; the same event many times is one event with a \"count\"",
            name, (int)PLAN_EVENTS_MAX);
    }
    root =
        json_loadb(text.data == NULL ? "" : text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    status = root == NULL ? refuse_text(&reader, &error) : read_root(out, &reader, root);
    json_decref(root);
    if (status != STATUS_OK) {
        plan_events_free(out);
    }
    return status;
}

const char *plan_events_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static enum status read_standard_input(char **text, size_t *size, const char *name, struct why *why)
{
    *text = malloc(PLAN_EVENTS_BYTES_MAX + 1);
    if (*text == NULL) {
        return STATUS_NO_MEMORY;
    }
    *size = fread(*text, 1, PLAN_EVENTS_BYTES_MAX + 1, stdin);
    if (ferror(stdin)) {
        why_set(why, "%s: cannot be read", name);
        return STATUS_IO;
    }
    return STATUS_OK;
}

enum status plan_events_read(struct plan_events *out, const char *path, struct why *why)
{
    const char *name = plan_events_name(path);
    char *text = NULL;
    size_t size = 0;

    *out = (struct plan_events){NULL, 0};
    enum status status = strcmp(path, "-") == 0
                             ? read_standard_input(&text, &size, name, why)
                             : file_read(&text, &size, path, PLAN_EVENTS_BYTES_MAX, why);
    if (status == STATUS_OK) {
        status = plan_events_parse(out, (struct slice){text, size}, name, why);
    }
    free(text);
    return status;
}

void plan_events_free(struct plan_events *events)
{
    free(events->event);
    *events = (struct plan_events){NULL, 0};
}
