/* embedded.h - text files that the build puts into a library or program: house_texts() of cmake/House.cmake. */

#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

/* Tables end with a name NULL. */
struct embedded {
    const char *name; /* of the file, without its folder and .txt, and with a space for each '-' */
    const char *text;
};

/** Returns the text of that name; there must be one. */
const char *embedded_text(const struct embedded *table, const char *name);

#endif
