/* One text is made for all listeners, and a listener that is behind skips to the latest: memory and work do not grow with the
 * news, nor with what a listener leaves unread. libmicrohttpd takes a suspended connection's departure for nothing and aborts the
 * process where one is left when it is stopped, so both are looked after here. */

#define _GNU_SOURCE /* POLLRDHUP */
#include "http/http_stream.h"

#include "base/check.h"
#include "http/guard.h"

#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PLACES = HTTP_STREAMS_MAX + 4, /* some for those that are being ended */
    BLOCK_BYTES = 4096,
    SOCKET_BYTES = 64 * 1024 /* the system keeps unread: the news are younger than that */
};

static const char BEAT[] = "event: beat\ndata: .\n\n";

/* A text that several listeners are being sent. */
struct news {
    size_t holders;
    uint64_t number;
    size_t size;
    char text[];
};

struct stream {
    struct http_streams *streams;
    struct MHD_Connection *connection; /* NULL: the place is free */
    int descriptor;
    struct http_origin origin;
    uint64_t begun;    /* later ones have a larger number */
    int file;          /* -1: of events */
    struct news *news; /* on its way; or NULL */
    size_t at;         /* sent of it */
    uint64_t heard;    /* the number of the latest that was begun */
    int64_t moved_ms;  /* when libmicrohttpd last asked for more */
    bool suspended;
    bool beat; /* it is due */
    bool over; /* it is ended at the next occasion */
};

struct http_streams {
    const struct http_route *route; /* of the events; NULL: nobody has listened yet */
    void *self;
    struct news *latest; /* NULL: none */
    uint64_t version;    /* that the latest was made of */
    int64_t made_ms;     /* when it was last looked at */
    int64_t looked_ms;   /* when the version was */
    int64_t now_ms;
    uint64_t count; /* of news */
    uint64_t begun; /* streams so far */
    size_t listeners;
    bool ended; /* nobody is waited for any more */
    struct stream stream[PLACES];
};

struct http_streams *http_streams_new(void)
{
    struct http_streams *streams = calloc(1, sizeof *streams);
    if (streams != NULL) {
        streams->looked_ms = -STREAM_NEWS_MS;
        for (size_t i = 0; i < PLACES; i++) {
            streams->stream[i].streams = streams;
        }
    }
    return streams;
}

static void let_go(struct news *news)
{
    if (news != NULL && --news->holders == 0) {
        free(news);
    }
}

/* Each line of a text is a line of the event; the page puts them together again. */
static struct news *encode(const char *text)
{
    size_t lines = 1;
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n' ? 1 : 0;
    }
    const size_t room = strlen(text) + 6 * lines + 3;
    struct news *news = room > HTTP_NEWS_BYTES_MAX ? NULL : malloc(sizeof *news + room);
    if (news == NULL) {
        return NULL;
    }
    *news = (struct news){.holders = 1};
    for (const char *at = text;; at++) {
        const size_t size = strcspn(at, "\n");
        news->size += (size_t)snprintf(news->text + news->size, room - news->size, "data: %.*s\n",
                                       (int)size, at);
        at += size;
        if (*at == '\0') {
            break;
        }
    }
    news->text[news->size++] = '\n';
    return news;
}

static void make_news(struct http_streams *streams)
{
    char *text = streams->route->tell(streams->self);
    struct news *news = text == NULL ? NULL : encode(text);
    free(text);
    streams->made_ms = streams->now_ms;
    if (news == NULL) {
        return;
    }
    if (streams->latest != NULL && streams->latest->size == news->size &&
        memcmp(streams->latest->text, news->text, news->size) == 0) {
        free(news);
        return;
    }
    news->number = ++streams->count;
    let_go(streams->latest);
    streams->latest = news;
}

static void look(struct http_streams *streams)
{
    if (streams->listeners == 0 || streams->now_ms - streams->looked_ms < STREAM_NEWS_MS) {
        return;
    }
    const uint64_t version = streams->route->version(streams->self);
    streams->looked_ms = streams->now_ms;
    if (streams->latest == NULL || version != streams->version ||
        streams->now_ms - streams->made_ms >= STREAM_LOOK_MS) {
        streams->version = version;
        make_news(streams);
    }
}

static ssize_t read_events(void *self, UNUSED uint64_t position, char *out, size_t room)
{
    struct stream *stream = self;
    struct news *latest = stream->streams->latest;
    if (stream->over || stream->streams->ended) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    stream->moved_ms = stream->streams->now_ms;
    if (stream->news == NULL && latest != NULL && latest->number != stream->heard) {
        stream->news = latest;
        stream->heard = latest->number;
        stream->at = 0;
        latest->holders++;
    }
    if (stream->news == NULL && stream->beat && room >= sizeof BEAT - 1) {
        stream->beat = false;
        memcpy(out, BEAT, sizeof BEAT - 1);
        return (ssize_t)sizeof BEAT - 1;
    }
    if (stream->news == NULL) {
        stream->suspended = true;
        MHD_suspend_connection(stream->connection);
        return 0;
    }
    const size_t left = stream->news->size - stream->at;
    const size_t size = left < room ? left : room;
    memcpy(out, stream->news->text + stream->at, size);
    stream->at += size;
    if (stream->at == stream->news->size) {
        let_go(stream->news);
        stream->news = NULL;
    }
    return (ssize_t)size;
}

/* A file that became shorter ends early, and libmicrohttpd closes the connection: the browser says that it failed. */
static ssize_t read_file(void *self, uint64_t position, char *out, size_t room)
{
    struct stream *stream = self;
    stream->moved_ms = stream->streams->now_ms;
    const ssize_t got = stream->over ? -1 : pread(stream->file, out, room, (off_t)position);
    return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void release(void *self)
{
    struct stream *stream = self;
    struct http_streams *streams = stream->streams;
    if (stream->file >= 0) {
        (void)close(stream->file);
    } else {
        streams->listeners--;
    }
    let_go(stream->news);
    *stream = (struct stream){.streams = streams};
}

static struct stream *find_free(struct http_streams *streams)
{
    for (size_t i = 0; i < PLACES; i++) {
        if (streams->stream[i].connection == NULL) {
            return &streams->stream[i];
        }
    }
    return NULL;
}

static struct http_origin origin_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return http_origin_of(info == NULL ? NULL : info->client_addr);
}

static bool is_there(const struct stream *stream)
{
    return stream->connection != NULL && !stream->over;
}

static size_t count_of(const struct http_streams *streams, const struct http_origin *origin)
{
    size_t count = 0;
    for (size_t i = 0; i < PLACES; i++) {
        const struct stream *stream = &streams->stream[i];
        count += is_there(stream) && http_origin_equal(&stream->origin, origin) ? 1 : 0;
    }
    return count;
}

/* Whether a gives way rather than b: of the address that has more, events before files, which cannot be taken up again where
 * they were, and the older one. */
static bool gives_way(const struct http_streams *streams, const struct stream *a,
                      const struct stream *b)
{
    const size_t a_count = count_of(streams, &a->origin);
    const size_t b_count = count_of(streams, &b->origin);
    if (a_count != b_count) {
        return a_count > b_count;
    }
    return (a->file < 0) != (b->file < 0) ? a->file < 0 : a->begun < b->begun;
}

/* Returns who gives way to one more of an address; NULL where nobody has to, or nobody does. */
static struct stream *find_yielding(struct http_streams *streams, const struct http_origin *origin,
                                    bool *full)
{
    struct stream *found = NULL;
    size_t used = 0;
    for (size_t i = 0; i < PLACES; i++) {
        struct stream *stream = &streams->stream[i];
        if (is_there(stream)) {
            used++;
            found = found == NULL || gives_way(streams, stream, found) ? stream : found;
        }
    }
    *full = used >= HTTP_STREAMS_MAX;
    const bool yields = *full && count_of(streams, &found->origin) >= count_of(streams, origin) + 2;
    return yields ? found : NULL;
}

bool http_streams_are_full(struct http_streams *streams, struct MHD_Connection *connection)
{
    const struct http_origin origin = origin_of(connection);
    bool full = false;
    const bool yields = find_yielding(streams, &origin, &full) != NULL;
    return find_free(streams) == NULL || (full && !yields);
}

/* Which libmicrohttpd takes for departure. */
static void cut(struct stream *stream)
{
    stream->over = true;
    (void)shutdown(stream->descriptor, SHUT_RDWR);
}

struct MHD_Response *http_streams_begin(struct http_streams *streams,
                                        const struct http_route *route, void *self,
                                        struct MHD_Connection *connection, int descriptor, int file,
                                        uint64_t size, int64_t now_ms)
{
    const int room = SOCKET_BYTES;
    const struct http_origin origin = origin_of(connection);
    bool full = false;
    struct stream *yielding = find_yielding(streams, &origin, &full);
    struct stream *stream = full && yielding == NULL ? NULL : find_free(streams);
    struct MHD_Response *response = NULL;
    if (stream != NULL) {
        response =
            MHD_create_response_from_callback(file < 0 ? MHD_SIZE_UNKNOWN : size, BLOCK_BYTES,
                                              file < 0 ? read_events : read_file, stream, release);
    }
    if (response == NULL) {
        if (file >= 0) {
            (void)close(file);
        }
        return NULL;
    }
    *stream = (struct stream){.streams = streams,
                              .connection = connection,
                              .descriptor = descriptor,
                              .origin = origin,
                              .begun = ++streams->begun,
                              .file = file,
                              .moved_ms = now_ms};
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (yielding != NULL) {
        cut(yielding);
    }
    if (file < 0) {
        streams->route = route;
        streams->self = self;
        streams->listeners++;
        streams->now_ms = now_ms;
        look(streams);
    }
    return response;
}

static void wake(struct stream *stream)
{
    if (stream->suspended) {
        stream->suspended = false;
        stream->moved_ms = stream->streams->now_ms;
        MHD_resume_connection(stream->connection);
    }
}

static bool has_left(const struct stream *stream)
{
    struct pollfd end = {.fd = stream->descriptor, .events = POLLRDHUP};
    return poll(&end, 1, 0) > 0 && (end.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* Returns whether libmicrohttpd has something to do now that its descriptor does not tell. */
static bool run_one(struct stream *stream)
{
    const struct http_streams *streams = stream->streams;
    const int64_t still_ms = streams->now_ms - stream->moved_ms;
    if (stream->suspended) {
        stream->over = stream->over || has_left(stream);
        stream->beat = still_ms >= STREAM_BEAT_MS;
        if (stream->over || stream->beat ||
            (streams->latest != NULL && streams->latest->number != stream->heard)) {
            wake(stream);
            return true;
        }
    } else if (still_ms >= HTTP_STALLED_MS && !stream->over) {
        cut(stream);
        return true;
    }
    return false;
}

bool http_streams_run(struct http_streams *streams, int64_t now_ms)
{
    bool due = false;
    streams->now_ms = now_ms;
    look(streams);
    for (size_t i = 0; i < PLACES; i++) {
        if (streams->stream[i].connection != NULL) {
            due = run_one(&streams->stream[i]) || due;
        }
    }
    return due;
}

int64_t http_streams_due_ms(const struct http_streams *streams)
{
    int64_t due_ms = streams->listeners > 0 ? streams->looked_ms + STREAM_NEWS_MS : INT64_MAX;
    for (size_t i = 0; i < PLACES; i++) {
        const struct stream *stream = &streams->stream[i];
        if (stream->connection != NULL && !stream->suspended && !stream->over &&
            stream->moved_ms + HTTP_STALLED_MS < due_ms) {
            due_ms = stream->moved_ms + HTTP_STALLED_MS;
        }
    }
    return due_ms;
}

void http_streams_end(struct http_streams *streams)
{
    streams->ended = true; /* also of those that begin in libmicrohttpd's last turn */
    for (size_t i = 0; i < PLACES; i++) {
        if (streams->stream[i].connection != NULL) {
            streams->stream[i].over = true;
            wake(&streams->stream[i]);
        }
    }
}

void http_streams_free(struct http_streams *streams)
{
    if (streams != NULL) {
        let_go(streams->latest);
        free(streams);
    }
}
