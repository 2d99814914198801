#include "config/config.h"

#include "base/check.h"
#include "base/file.h"
#include "base/owned.h"
#include "base/text.h"
#include "config/config_keys.h"
#include "config/scalar.h"
#include "config/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char VERSION_KEY[] = "hedgerow";

struct config {
    struct tree tree;
    char name[512];
};

static enum status check_version(const struct config *config, struct why *why)
{
    const struct tree *tree = &config->tree;
    size_t nearest = 0;
    uint32_t version = 0;
    char problem[SCALAR_PROBLEM_BYTES];
    static const struct config_key key = {
        .type = CONFIG_INTEGER, .size = sizeof version, .max = UINT32_MAX, .example = "1"};
    if (tree->node[0].kind != NODE_TABLE) {
        return tree_refuse_node(tree, why, 0, "is not a table: begin with `%s: %d`", VERSION_KEY,
                                CONFIG_VERSION);
    }
    size_t node = tree_find(tree, VERSION_KEY, &nearest);
    if (node == NO_NODE) {
        return tree_refuse_node(tree, why, 0, "the version is missing: begin with `%s: %d`",
                                VERSION_KEY, CONFIG_VERSION);
    }
    if (tree->node[node].kind != NODE_SCALAR) {
        return tree_refuse_node(tree, why, node, "is not a version: write %d", CONFIG_VERSION);
    }
    if (!scalar_store(&key, &version, tree->node[node].text, tree->node[node].quoted, problem)) {
        return tree_refuse_node(tree, why, node, "%s", problem);
    }
    if (version != CONFIG_VERSION) {
        (void)tree_refuse_node(tree, why, node,
                               "is version %u, and this program reads version %d: use a matching "
                               "program, or rewrite the file",
                               version, CONFIG_VERSION);
        return STATUS_UNSUPPORTED;
    }
    return STATUS_OK;
}

/* Whether the first line is that of a table: names between separators, and no key. */
static bool is_of_a_table(struct slice text)
{
    const char *at = text.data;
    size_t separators = 0;
    for (size_t i = 0; i < text.size && at[i] != '\n'; i++) {
        if (strchr("#:[{-", at[i]) != NULL) {
            return false;
        }
        separators += strchr(",;\t", at[i]) != NULL ? 1 : 0;
    }
    return separators > 0;
}

enum status config_open(struct config **out, struct slice text, const char *name, struct why *why)
{
    *out = NULL;
    struct config *config = calloc(1, sizeof *config);
    if (config == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(config->name, sizeof config->name, "%s", name);
    enum status status = tree_parse(&config->tree, text, config->name, why);
    if (status == STATUS_OK) {
        status = check_version(config, why);
    }
    if (status == STATUS_INVALID && is_of_a_table(text)) {
        why_set(
            why,
            "%s:1:1: this line is of a table of records; give a YAML text that begins with `%s: "
            "%d`",
            config->name, VERSION_KEY, CONFIG_VERSION);
    }
    if (status != STATUS_OK) {
        config_free(config);
        return status;
    }
    *out = config;
    return STATUS_OK;
}

void config_free(struct config *config)
{
    if (config != NULL) {
        tree_free(&config->tree);
        free(config);
    }
}

static const char *kind_name(enum node_kind kind)
{
    switch (kind) {
    case NODE_SCALAR:
        return "a single value";
    case NODE_LIST:
        return "a list";
    case NODE_TABLE:
        return "a table";
    }
    return "unknown";
}

static enum status refuse_kind(const struct tree *tree, struct why *why, size_t node,
                               const char *wanted, const char *example)
{
    return tree_refuse_node(tree, why, node, "is %s, not %s: write it like %s",
                            kind_name(tree->node[node].kind), wanted, example);
}

/* Stores one value, or leaves a table or a row for when the loop in config_read comes to it. */
static enum status read_one(struct tree *tree, size_t id, const struct config_key *key,
                            void *member, struct why *why)
{
    char problem[SCALAR_PROBLEM_BYTES];
    struct node *node = &tree->node[id];
    if (key->type == CONFIG_TABLE || key->type == CONFIG_ROWS) {
        const bool is_row = key->type == CONFIG_ROWS;
        if (node->kind != (is_row ? NODE_LIST : NODE_TABLE)) {
            return refuse_kind(tree, why, id, is_row ? "a list" : "a table", key->example);
        }
        node->keys = key->keys;
        node->target = member;
        return STATUS_OK;
    }
    if (node->kind != NODE_SCALAR) {
        return refuse_kind(tree, why, id, "a single value", key->example);
    }
    if (!scalar_store(key, member, node->text, node->quoted, problem)) {
        return tree_refuse_node(tree, why, id, "%s", problem);
    }
    return STATUS_OK;
}

static enum status check_items(const struct tree *tree, size_t id, const struct config_key *key,
                               struct why *why)
{
    const struct node *node = &tree->node[id];
    if (node->kind != NODE_LIST) {
        return refuse_kind(tree, why, id, "a list", key->example);
    }
    if (node->count == 0) {
        return tree_refuse_node(tree, why, id, "is an empty list: write it like %s", key->example);
    }
    if (node->count > key->items_max) {
        return tree_refuse_node(tree, why, id, "has %zu items: at most %zu are read", node->count,
                                key->items_max);
    }
    return STATUS_OK;
}

static enum status read_list(struct tree *tree, size_t id, const struct config_key *key,
                             char *target, struct why *why)
{
    enum status status = check_items(tree, id, key, why);
    if (status != STATUS_OK) {
        return status;
    }
    size_t count = tree->node[id].count;
    char *items = tree_allocate(tree, count, key->size);
    if (items == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(target + key->offset, &items, sizeof items);
    memcpy(target + key->count_offset, &count, sizeof count);
    size_t item = tree->node[id].first;
    for (; item != NO_NODE && status == STATUS_OK; item = tree->node[item].next) {
        void *member = items + tree->node[item].position * key->size;
        status = read_one(tree, item, key, member, why);
    }
    return status;
}

static enum status read_set(struct tree *tree, size_t id, const struct config_key *key,
                            char *target, struct why *why)
{
    bool *flag = (bool *)(void *)(target + key->offset);
    CHECK(key->choice((unsigned)(key->size / sizeof *flag)) == NULL); /* room for every name */
    enum status status = check_items(tree, id, key, why);
    size_t item = tree->node[id].first;
    for (; item != NO_NODE && status == STATUS_OK; item = tree->node[item].next) {
        char problem[SCALAR_PROBLEM_BYTES];
        unsigned index = 0;
        if (tree->node[item].kind != NODE_SCALAR) {
            return refuse_kind(tree, why, item, "a single value", key->example);
        }
        if (!scalar_choice(key, &index, tree->node[item].text, problem)) {
            return tree_refuse_node(tree, why, item, "%s", problem);
        }
        CHECK(index < key->size / sizeof *flag);
        if (flag[index]) {
            return tree_refuse_node(tree, why, item, "is there twice: remove one");
        }
        flag[index] = true;
    }
    return status;
}

static enum status read_member(struct tree *tree, size_t id, const struct config_key *key,
                               char *target, struct why *why)
{
    if (key->type == CONFIG_SET) {
        return read_set(tree, id, key, target, why);
    }
    return key->list ? read_list(tree, id, key, target, why)
                     : read_one(tree, id, key, target + key->offset, why);
}

static enum status read_table(struct tree *tree, size_t id, struct why *why)
{
    const struct config_key *keys = tree->node[id].keys;
    if (tree->node[id].flow) {
        const enum status commas = keys_check_commas(tree, id, keys, why);
        if (commas != STATUS_OK) {
            return commas;
        }
    }
    char *target = tree->node[id].target;
    uint64_t seen = 0;
    bool versioned = false;
    size_t child = tree->node[id].first;
    for (; child != NO_NODE; child = tree->node[child].next) {
        const char *name = tree->node[tree->node[child].key].text;
        size_t k = 0;
        while (keys[k].name != NULL && strcmp(keys[k].name, name) != 0) {
            k++;
        }
        CHECK(k < KEYS_MAX);
        if (id == 0 && strcmp(name, VERSION_KEY) == 0) {
            if (versioned) {
                return tree_refuse_key(tree, why, child, "is there twice: remove one");
            }
            versioned = true;
            continue;
        }
        if (keys[k].name == NULL) {
            return keys_refuse_unknown(tree, child, keys, why);
        }
        if ((seen >> k & 1) != 0) {
            return tree_refuse_key(tree, why, child, "is there twice: remove one");
        }
        seen |= UINT64_C(1) << k;
        enum status status = read_member(tree, child, &keys[k], target, why);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return keys_complete(tree, id, keys, seen, why);
}

enum status config_read(struct config *config, void *target, const struct config_key *keys,
                        struct why *why)
{
    struct tree *tree = &config->tree;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < tree->count; i++) {
        tree->node[i].keys = NULL;
    }
    tree->node[0].keys = keys;
    tree->node[0].target = target;
    /* Parents come before their children: when the loop is at a table, its parent has said what it
     * is read by. */
    for (size_t i = 0; i < tree->count && status == STATUS_OK; i++) {
        const struct node *node = &tree->node[i];
        if (node->keys != NULL) {
            status = node->kind == NODE_LIST ? read_list(tree, i, node->keys, node->target, why)
                                             : read_table(tree, i, why);
        }
    }
    return status;
}

bool config_has(const struct config *config, const char *path)
{
    size_t nearest = 0;
    return tree_find(&config->tree, path, &nearest) != NO_NODE;
}

enum status config_refuse(const struct config *config, struct why *why, const char *path,
                          const char *format, ...)
{
    size_t nearest = 0;
    va_list arguments;
    (void)tree_find(&config->tree, path, &nearest);
    va_start(arguments, format);
    (void)tree_refuse(&config->tree, why, config->tree.node[nearest].start, path, format,
                      arguments);
    va_end(arguments);
    return STATUS_INVALID;
}

/* Files: read whole, and written from the table of keys, so that nothing is said of a key in two places. */

enum { TEMPLATE_BYTES = 16 * 1024 };

static void add_choices(char *text, const struct config_key *key)
{
    text_add(text, TEMPLATE_BYTES, " One of: ");
    for (unsigned i = 0; key->choice(i) != NULL; i++) {
        text_add(text, TEMPLATE_BYTES, "%s%s", i > 0 ? ", " : "", key->choice(i));
    }
    text_add(text, TEMPLATE_BYTES, ".");
}

static void add_key(char *text, const struct config_key *key)
{
    const char *value = key->fallback != NULL ? key->fallback : key->example;
    text_add(text, TEMPLATE_BYTES, "\n# %s", key->doc);
    if (key->choice != NULL) {
        add_choices(text, key);
    }
    if (key->required) {
        text_add(text, TEMPLATE_BYTES, "\n# Required.\n%s: %s\n", key->name, key->example);
    } else if (key->fallback != NULL) {
        text_add(text, TEMPLATE_BYTES, "\n# Optional; this is the default.\n# %s: %s\n", key->name,
                 value);
    } else {
        text_add(text, TEMPLATE_BYTES, "\n# Optional; for example:\n# %s: %s\n", key->name, value);
    }
}

char *config_template(const struct config_key *keys, const char *head)
{
    char *text = calloc(1, TEMPLATE_BYTES);
    if (text == NULL) {
        return NULL;
    }
    for (const char *line = head; *line != '\0';) {
        const size_t size = strcspn(line, "\n");
        text_add(text, TEMPLATE_BYTES, "# %.*s\n", (int)size, line);
        line += size + (line[size] == '\n' ? 1 : 0);
    }
    text_add(text, TEMPLATE_BYTES,
             "\n# The version of this file's format.\n# Required.\nhedgerow: %d\n", CONFIG_VERSION);
    for (; keys->name != NULL; keys++) {
        if (keys->doc != NULL) { /* keys without are for programs alone */
            add_key(text, keys);
        }
    }
    return text;
}

void config_put_text(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            (void)fputc('\\', out);
        }
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

enum status config_load(char **out, size_t *size, const char *path, struct why *why)
{
    const enum status status = file_read(out, size, path, CONFIG_TEXT_BYTES_MAX, why);
    struct stat about;
    if (status == STATUS_INVALID && stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
        why_set(why,
                "%s: larger than %d bytes, the most for such a text: is it a table of records?",
                path, CONFIG_TEXT_BYTES_MAX);
    }
    return status == STATUS_NOT_FOUND ? STATUS_IO : status; /* whoever asks needs the file */
}

enum status config_load_owned(char **out, size_t *size, const char *path, struct why *why)
{
    const enum status status = owned_source(path, why);
    return status == STATUS_OK ? config_load(out, size, path, why) : status;
}
