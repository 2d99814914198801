/* What the page draws of forecasts, as JSON: those of outlook.h. Released values alone. */

#include "coordinator/main_face.h"
#include "coordinator/outlook.h"

#include "json/json_text.h"

#include <stdlib.h>

enum { DIGITS = 7 }; /* of a drawing */

static json_t *numbers(const double *number, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_add(&list, json_number(number[i]));
    }
    return list;
}

static json_t *told_model(const struct outlook_model *model)
{
    json_t *object = json_object();
    json_put(&object, "expert", json_integer((json_int_t)model->expert));
    json_put(&object, "value", numbers(model->value, OUTLOOK_LEVELS));
    json_put(&object, "noise", numbers(model->noise, OUTLOOK_LEVELS));
    return object;
}

static json_t *told_path(const struct outlook_path *path)
{
    json_t *object = json_object();
    json_put(&object, "start", json_number(path->start));
    json_put(&object, "value", numbers(path->value, OUTLOOK_DAYS));
    json_put(&object, "noise", numbers(path->noise, OUTLOOK_DAYS));
    return object;
}

static char *told_outlook(const struct outlook *outlook, const struct label *label)
{
    json_t *models = json_array();
    json_t *paths = json_array();
    json_t *root = json_object();
    for (size_t i = 0; i < outlook->model_count; i++) {
        json_add(&models, told_model(&outlook->model[i]));
    }
    for (size_t i = 0; i < outlook->path_count; i++) {
        json_add(&paths, told_path(&outlook->path[i]));
    }
    json_put(&root, "unit", json_string(label->name));
    json_put(&root, "levels", numbers(outlook->level, OUTLOOK_LEVELS));
    json_put(&root, "models", models);
    json_put(&root, "paths", paths);
    char *text = json_text(root, 0, DIGITS);
    json_decref(root);
    return text;
}

char *face_outlook(const struct outcome *outcome, const struct job *job)
{
    struct outlook outlook;
    if (outlook_make(&outlook, outcome, job) != STATUS_OK || outlook.model_count == 0) {
        return NULL;
    }
    return told_outlook(&outlook, &job->schema.label);
}
