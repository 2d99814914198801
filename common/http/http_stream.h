/* http_stream.h - answers that last: events to clients that listen, and files on their way. For http.c alone. There are few of
 * them, each holds one text or one block of a file, and a client that does not read is cut. Where all are taken, somebody
 * else's newcomer takes the place of the oldest stream of the address that has the most. */

#ifndef HTTP_HTTP_STREAM_H
#define HTTP_HTTP_STREAM_H

#include "http/http.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    STREAM_NEWS_MS = 500, /* two events are this far apart, or further */
    STREAM_LOOK_MS =
        2000, /* what has no version of its own is looked at again, and told if it differs */
    STREAM_BEAT_MS =
        5000 /* a listener that has heard nothing for this time is told that the program lives */
};

struct http_streams;

struct MHD_Connection;
struct MHD_Response;

/** NULL without memory. */
struct http_streams *http_streams_new(void);

/** Ends all of them: none is suspended any more, and each is closed once libmicrohttpd runs. */
void http_streams_end(struct http_streams *streams);

/** After libmicrohttpd was stopped. http_streams_free(NULL) does nothing. */
void http_streams_free(struct http_streams *streams);

/**
 * Begins a stream: of events, where file is below 0, or of a file.
 *
 * route       in  kept
 * self        in  kept; the route's
 * descriptor  in  the connection's
 * file        in  taken, also where this fails
 * size        in  of the file
 *
 * Ends another stream where http_streams_are_full says that there is room only so. Returns the answer to queue and to destroy;
 * NULL without memory, or where there is no room.
 */
struct MHD_Response *http_streams_begin(struct http_streams *streams,
                                        const struct http_route *route, void *self,
                                        struct MHD_Connection *connection, int descriptor, int file,
                                        uint64_t size, int64_t now_ms);

/** Whether there is no room for one more of this connection's address: HTTP_STREAMS_MAX are there, and no other address has
 * two streams more than its. */
bool http_streams_are_full(struct http_streams *streams, struct MHD_Connection *connection);

/** Returns when http_streams_run is due; INT64_MAX: never. */
int64_t http_streams_due_ms(const struct http_streams *streams);

/** Makes what is to be told, wakes those who have not heard it, and cuts those who do not read. Returns whether libmicrohttpd has
 * something to do now. */
bool http_streams_run(struct http_streams *streams, int64_t now_ms);

#endif
