#include "config/config_keys.h"

#include "base/check.h"
#include "base/text.h"
#include "config/scalar.h"

#include <string.h>

static void fill_fallback(const struct config_key *key, char *target)
{
    char problem[SCALAR_PROBLEM_BYTES];
    if (key->fallback != NULL) {
        bool good = scalar_store(key, target + key->offset, key->fallback, false, problem);
        CHECK(good);
    }
}

/* Answers whether the key that may stand in the place of another one does. */
static bool is_replaced(const struct config_key *keys, uint64_t seen, size_t k)
{
    size_t other = 0;
    while (keys[k].unless != NULL && keys[other].name != NULL &&
           strcmp(keys[other].name, keys[k].unless) != 0) {
        other++;
    }
    return keys[k].unless != NULL && (seen >> other & 1) != 0;
}

static bool is_missing(const struct config_key *keys, uint64_t seen, size_t k)
{
    return (seen >> k & 1) == 0 && keys[k].required && !is_replaced(keys, seen, k);
}

static enum status check_replaced(const struct tree *tree, size_t id, const struct config_key *keys,
                                  uint64_t seen, struct why *why)
{
    for (size_t k = 0; keys[k].name != NULL; k++) {
        if ((seen >> k & 1) != 0 && is_replaced(keys, seen, k)) {
            return tree_refuse_node(tree, why, id, "has both \"%s\" and \"%s\": remove one",
                                    keys[k].name, keys[k].unless);
        }
    }
    return STATUS_OK;
}

/* All that is missing, in one sentence. */
static enum status check_required(const struct tree *tree, size_t id, const struct config_key *keys,
                                  uint64_t seen, struct why *why)
{
    char names[WHY_BYTES] = "";
    char examples[WHY_BYTES] = "";
    size_t count = 0;
    for (size_t k = 0; keys[k].name != NULL; k++) {
        if (is_missing(keys, seen, k)) {
            text_add(names, sizeof names, "%s\"%s\"", count > 0 ? ", " : "", keys[k].name);
            text_add(examples, sizeof examples, "%s`%s: %s`", count > 0 ? ", " : "", keys[k].name,
                     keys[k].example);
            count++;
        }
    }
    return count == 0 ? STATUS_OK
                      : tree_refuse_node(tree, why, id, "has no %s: add %s, for example %s", names,
                                         count > 1 ? "them" : "it", examples);
}

/* Fills what the text leaves out. */
static void fill_missing(const struct tree *tree, size_t id, const struct config_key *keys,
                         uint64_t seen)
{
    char *target = tree->node[id].target;
    for (size_t k = 0; keys[k].name != NULL; k++) {
        const struct config_key *key = &keys[k];
        if ((seen >> k & 1) != 0) {
            continue;
        }
        if (key->type == CONFIG_TABLE && !key->list) {
            for (size_t n = 0; key->keys[n].name != NULL; n++) {
                CHECK(key->keys[n].type != CONFIG_TABLE || key->keys[n].list);
                fill_fallback(&key->keys[n], target + key->offset);
            }
        } else {
            fill_fallback(key, target);
        }
    }
}

enum status keys_complete(const struct tree *tree, size_t id, const struct config_key *keys,
                          uint64_t seen, struct why *why)
{
    enum status status = check_replaced(tree, id, keys, seen, why);
    if (status == STATUS_OK) {
        status = check_required(tree, id, keys, seen, why);
    }
    if (status == STATUS_OK) {
        fill_missing(tree, id, keys, seen);
    }
    return status;
}

enum status keys_refuse_unknown(const struct tree *tree, size_t id, const struct config_key *keys,
                                struct why *why)
{
    char problem[SCALAR_PROBLEM_BYTES];
    const char *name[KEYS_MAX];
    const char *written = tree->node[tree->node[id].key].text;
    size_t count = 0;
    for (; keys[count].name != NULL; count++) {
        name[count] = keys[count].name;
    }
    const struct config_foreign *foreign = keys[count].foreign;
    for (; foreign != NULL && foreign->name != NULL; foreign++) {
        if (strcmp(foreign->name, written) == 0) {
            return tree_refuse_key(tree, why, id, "%s", foreign->remedy);
        }
    }
    scalar_suggest(problem, "is not a key here", written, name, count);
    return tree_refuse_key(tree, why, id, "%s", problem);
}

/* In braces a comma ends a value: {epsilon: 0,5} has the key "5", without a value. */
enum status keys_check_commas(const struct tree *tree, size_t id, const struct config_key *keys,
                              struct why *why)
{
    char problem[SCALAR_PROBLEM_BYTES];
    size_t before = NO_NODE;
    for (size_t child = tree->node[id].first; child != NO_NODE; child = tree->node[child].next) {
        const struct node *value = &tree->node[child];
        const char *key = tree->node[value->key].text;
        size_t k = 0;
        while (before != NO_NODE && keys[k].name != NULL &&
               strcmp(keys[k].name, tree->node[tree->node[before].key].text) != 0) {
            k++;
        }
        if (before != NO_NODE && keys[k].name != NULL && value->kind == NODE_SCALAR &&
            value->text[0] == '\0' && tree->node[before].kind == NODE_SCALAR &&
            scalar_comma(&keys[k], tree->node[before].text, key, problem)) {
            return tree_refuse_node(tree, why, before, "%s", problem);
        }
        before = child;
    }
    return STATUS_OK;
}
