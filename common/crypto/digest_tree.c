/* The tree has one level: a root over up to 2^24 leaves would still be small beside them. SHA-384 has another function and
 * another start than SHA-256, so that no text of one leaf has the digest of a tree. What is made on the way is wiped: an exact
 * answer has few possible values, and its digest would tell which one it is. */

#define OPENSSL_SUPPRESS_DEPRECATED /* as in digest.c */

#include "crypto/digest.h"

#include "base/check.h"
#include "crypto/digest_leaves.h"

#include <openssl/sha.h>
#include <string.h>

enum { LANES = 2 };

static void tree(struct digest *out, struct slice bytes, bool fast)
{
    const uint8_t *at = bytes.data;
    size_t left = bytes.size;
    SHA512_CTX root;
    uint8_t size[8];
    uint8_t whole[SHA384_DIGEST_LENGTH];

    if (bytes.size <= DIGEST_LEAF_BYTES) {
        digest_sha256(out, &bytes, 1);
        return;
    }
    fast = fast && left >= LANES * (size_t)DIGEST_LEAF_BYTES && digest_leaves_fast();
    store_u64(size, bytes.size);
    CHECK(SHA384_Init(&root) == 1 && SHA384_Update(&root, size, sizeof size) == 1);
    while (left > 0) {
        struct digest leaf[LANES];
        const size_t leaves = fast && left >= LANES * (size_t)DIGEST_LEAF_BYTES ? LANES : 1;
        const size_t used = left < leaves * DIGEST_LEAF_BYTES ? left : leaves * DIGEST_LEAF_BYTES;
        if (leaves == LANES) {
            digest_leaves_two(leaf, at);
        } else {
            digest_sha256(&leaf[0], &(struct slice){at, used}, 1);
        }
        CHECK(SHA384_Update(&root, leaf, leaves * sizeof leaf[0]) == 1);
        bytes_wipe(leaf, sizeof leaf);
        at += used;
        left -= used;
    }
    CHECK(SHA384_Final(whole, &root) == 1);
    memcpy(out->byte, whole, sizeof out->byte);
    bytes_wipe(&root, sizeof root);
    bytes_wipe(whole, sizeof whole);
}

void digest_tree(struct digest *out, struct slice bytes)
{
    tree(out, bytes, true);
}

void digest_tree_plainly(struct digest *out, struct slice bytes)
{
    tree(out, bytes, false);
}

bool digest_is_of(const struct digest *digest, struct slice bytes)
{
    struct digest made;
    digest_tree(&made, bytes);
    if (!digest_equal(&made, digest) && bytes.size > DIGEST_LEAF_BYTES) {
        digest_sha256(&made, &bytes, 1);
    }
    return digest_equal(&made, digest);
}
