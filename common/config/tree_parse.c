/* The only file that knows libyaml. Its event interface shows what its document interface hides:
 * tags, anchors, and the depth before all of the text is taken in. */

#include "config/config.h"
#include "config/tree.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct builder {
    struct tree *tree;
    struct why *why;
    yaml_parser_t parser;
    size_t open;                              /* the list or table being filled, NO_NODE outside */
    size_t depth;                             /* how many are open */
    size_t pending_key[CONFIG_DEPTH_MAX + 1]; /* of the table at this depth, NO_NODE if none */
};

static struct place place_of(yaml_mark_t mark)
{
    return (struct place){mark.line + 1, mark.column + 1, mark.index};
}

static enum status refuse_at(const struct builder *builder, struct place place, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

static enum status refuse_at(const struct builder *builder, struct place place, const char *format,
                             ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)tree_refuse(builder->tree, builder->why, place, "", format, arguments);
    va_end(arguments);
    return STATUS_INVALID;
}

/* Adds a node, as a value of the open table, an item of the open list, or the root. */
static enum status add_node(struct builder *builder, size_t *out, const struct node *like)
{
    struct tree *tree = builder->tree;
    if (tree->count == tree->capacity) {
        size_t capacity = tree->capacity == 0 ? 64 : 2 * tree->capacity;
        struct node *grown = realloc(tree->node, capacity * sizeof *grown);
        if (grown == NULL) {
            return STATUS_NO_MEMORY;
        }
        tree->node = grown;
        tree->capacity = capacity;
    }
    size_t id = tree->count++;
    struct node *node = &tree->node[id];
    *node = *like;
    node->parent = builder->open;
    node->key = node->first = node->last = node->next = NO_NODE;
    *out = id;
    if (builder->open == NO_NODE) {
        return STATUS_OK;
    }
    struct node *open = &tree->node[builder->open];
    size_t *pending = &builder->pending_key[builder->depth];
    if (open->kind == NODE_TABLE && *pending == NO_NODE) {
        if (node->kind != NODE_SCALAR) {
            return refuse_at(builder, node->start, "a key is one word, not a list or a table");
        }
        *pending = id;
        return STATUS_OK;
    }
    if (open->kind == NODE_TABLE) {
        node->key = *pending;
        *pending = NO_NODE;
    }
    node->position = open->count++;
    if (open->last == NO_NODE) {
        open->first = id;
    } else {
        tree->node[open->last].next = id;
    }
    open->last = id;
    return STATUS_OK;
}

/* Whether a UTF-8 text, which a 0 ends, has a control character: below a space, 127, U+0080 to U+009F, or a line's end of Unicode
 * (U+2028, U+2029). YAML ends a line, and so a comment, at some of them. */
static bool holds_control(const char *text, size_t length)
{
    const unsigned char *byte = (const unsigned char *)text;
    for (const unsigned char *end = byte + length; byte < end; byte++) {
        if (*byte < ' ' || *byte == 127 || (byte[0] == 0xC2 && byte[1] < 0xA0) ||
            (byte[0] == 0xE2 && byte[1] == 0x80 && (byte[2] == 0xA8 || byte[2] == 0xA9))) {
            return true;
        }
    }
    return false;
}

static enum status add_scalar(struct builder *builder, const yaml_event_t *event)
{
    struct place start = place_of(event->start_mark);
    struct place end = place_of(event->end_mark);
    size_t length = event->data.scalar.length;
    if (event->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
        event->data.scalar.style == YAML_FOLDED_SCALAR_STYLE || start.line != end.line) {
        return refuse_at(builder, start,
                         "a value goes over several lines: write it on one, close its "
                         "quotes, and indent keys alike");
    }
    char *text = tree_allocate(builder->tree, length + 1, 1);
    if (text == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(text, event->data.scalar.value, length);
    if (holds_control(text, length)) {
        return refuse_at(builder, start, "a value holds a control character: remove it");
    }
    struct node node = {.kind = NODE_SCALAR,
                        .quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE,
                        .start = start,
                        .end = end,
                        .text = text};
    size_t id = 0;
    return add_node(builder, &id, &node);
}

static enum status add_container(struct builder *builder, const yaml_event_t *event)
{
    struct node node = {.start = place_of(event->start_mark), .end = place_of(event->end_mark)};
    if (event->type == YAML_SEQUENCE_START_EVENT) {
        node.kind = NODE_LIST;
        node.flow = event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    } else {
        node.kind = NODE_TABLE;
        node.flow = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    }
    if (builder->depth == CONFIG_DEPTH_MAX) {
        return refuse_at(builder, node.start, "more than %d levels of nesting", CONFIG_DEPTH_MAX);
    }
    size_t id = 0;
    enum status status = add_node(builder, &id, &node);
    builder->open = id;
    builder->depth++;
    builder->pending_key[builder->depth] = NO_NODE;
    return status;
}

static enum status close_container(struct builder *builder, const yaml_event_t *event)
{
    struct node *node = &builder->tree->node[builder->open];
    node->end = place_of(event->end_mark);
    builder->open = node->parent;
    builder->depth--;
    return STATUS_OK;
}

/* Refuses the parts of YAML that make a text mean something else than it shows. */
static enum status refuse_magic(const struct builder *builder, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL;
    const yaml_char_t *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    struct place place = place_of(event->start_mark);
    if (event->type == YAML_ALIAS_EVENT || anchor != NULL) {
        return refuse_at(builder, place,
                         "anchors (&) and aliases (*) are not read: "
                         "write the value out, in quotes if it begins so");
    }
    if (tag != NULL) {
        return refuse_at(builder, place,
                         "tags (!) are not read: leave it out, "
                         "or put a value that begins so in quotes");
    }
    return STATUS_OK;
}

static enum status take_event(struct builder *builder, const yaml_event_t *event)
{
    enum status status = refuse_magic(builder, event);
    if (status != STATUS_OK) {
        return status;
    }
    /* An int, as libyaml has event types of no use here. */
    switch ((int)event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->tree->count > 0) {
            return refuse_at(builder, place_of(event->start_mark),
                             "a second document begins: keep one per file");
        }
        return STATUS_OK;
    case YAML_SCALAR_EVENT:
        return add_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return add_container(builder, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_container(builder, event);
    default:
        return STATUS_OK;
    }
}

/* Returns whether the line (from 0) is indented with a tab; column: out, where. */
static bool is_tabbed(struct slice text, size_t line, size_t *column)
{
    const char *byte = text.data;
    size_t at = 0;
    for (size_t passed = 0; at < text.size && passed < line; at++) {
        passed += byte[at] == '\n' ? 1 : 0;
    }
    for (*column = 1; at < text.size && byte[at] == ' '; at++) {
        ++*column;
    }
    return at < text.size && byte[at] == '\t';
}

static struct place place_of_byte(struct slice text, size_t offset)
{
    const char *byte = text.data;
    struct place place = {1, 1, 0};
    for (size_t i = 0; i < text.size && i < offset; i++) {
        place.column = byte[i] == '\n' ? 1 : place.column + 1;
        place.line += byte[i] == '\n' ? 1 : 0;
    }
    return place;
}

/* The marks of other encodings, and of UTF-8 as some editors begin it, are not seen on a screen. */
static enum status refuse_marks(const struct builder *builder, struct slice text)
{
    static const struct {
        const char *bytes;
        const char *what;
    } mark[] = {
        {"\357\273\277",
         "begins with a byte order mark (BOM), which no editor shows: save it as UTF-8 without BOM"},
        {"\377\376", "is UTF-16: save it as UTF-8"},
        {"\376\377", "is UTF-16: save it as UTF-8"}};
    for (size_t i = 0; i < sizeof mark / sizeof mark[0]; i++) {
        const size_t size = strlen(mark[i].bytes);
        if (text.size >= size && memcmp(text.data, mark[i].bytes, size) == 0) {
            return refuse_at(builder, (struct place){1, 1, 0}, "the file %s", mark[i].what);
        }
    }
    const char *byte = text.data; /* further down: two files joined, or a text pasted from one */
    for (size_t i = 0; i + 3 <= text.size; i++) {
        if (memcmp(byte + i, mark[0].bytes, 3) == 0) {
            return refuse_at(
                builder, place_of_byte(text, i),
                "a byte order mark (BOM), which no editor shows: delete the line and type it again");
        }
    }
    return STATUS_OK;
}

/* Tells what libyaml met; a broken character has an offset in bytes instead of a mark. */
static enum status refuse_syntax(const struct builder *builder, struct slice text)
{
    const yaml_parser_t *parser = &builder->parser;
    if (parser->error == YAML_MEMORY_ERROR) {
        return STATUS_NO_MEMORY;
    }
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    struct place place = place_of(parser->problem_mark);
    if (parser->error == YAML_READER_ERROR) {
        return refuse_at(builder, place_of_byte(text, parser->problem_offset),
                         "%s: save the file as UTF-8 text", problem);
    }
    size_t column = 0;
    if (is_tabbed(text, parser->problem_mark.line, &column)) {
        return refuse_at(builder, (struct place){parser->problem_mark.line + 1, column, 0},
                         "the line is indented with a tab: use spaces");
    }
    if (parser->context != NULL) {
        return refuse_at(builder, place,
                         "%s %s that begins at line %zu: check indentation, brackets and quotes",
                         problem, parser->context, parser->context_mark.line + 1);
    }
    return refuse_at(builder, place, "%s: check indentation, brackets and quotes", problem);
}

enum status tree_parse(struct tree *tree, struct slice text, const char *name, struct why *why)
{
    struct builder builder = {.tree = tree, .why = why, .open = NO_NODE};
    enum status status = STATUS_OK;
    bool ended = false;
    *tree = (struct tree){.name = name};
    if (text.size > CONFIG_TEXT_BYTES_MAX) {
        return why_refuse(why, "%s: has %zu bytes, more than the %d that are read", name, text.size,
                          CONFIG_TEXT_BYTES_MAX);
    }
    status = refuse_marks(&builder, text);
    if (status != STATUS_OK) {
        return status;
    }
    if (yaml_parser_initialize(&builder.parser) == 0) {
        return STATUS_NO_MEMORY;
    }
    const unsigned char *bytes = text.size > 0 ? text.data : (const unsigned char *)"";
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, bytes, text.size);
    while (status == STATUS_OK && !ended) {
        yaml_event_t event;
        if (yaml_parser_parse(&builder.parser, &event) == 0) {
            status = refuse_syntax(&builder, text);
            break;
        }
        ended = event.type == YAML_STREAM_END_EVENT;
        status = take_event(&builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&builder.parser);
    if (status == STATUS_OK && tree->count == 0) {
        status = refuse_at(
            &builder, (struct place){1, 1, 0},
            "the file is empty: write its keys; docs/JOBS.md and docs/REFERENCE.md have examples");
    }
    if (status != STATUS_OK) {
        tree_free(tree);
    }
    return status;
}
