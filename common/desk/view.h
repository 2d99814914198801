/* view.h - answers as text. What is shown came from another machine: no control character of it reaches the terminal. */

#ifndef DESK_VIEW_H
#define DESK_VIEW_H

#include <jansson.h>

enum { VIEW_TEXT_BYTES = 1024 };

/** Puts '?' in the place of control characters. */
void view_clean(char *text);

/** Copies a member's text, cut to fit, with '?' for control characters; "" where there is none. Returns out. */
const char *view_text(char out[static VIEW_TEXT_BYTES], const json_t *object, const char *key);

/** Returns a member's number, 0 where there is none. */
double view_number(const json_t *object, const char *key);

void view_jobs_head(void);
void view_jobs_row(const json_t *job);
void view_job(const json_t *job);
void view_rounds_head(void);
void view_round(const json_t *round);
void view_agent(const json_t *agent);

#endif
