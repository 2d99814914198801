/* The top of the report, for a reader who will read nothing else: no symbol, no jargon, and for
 * every figure whether a deployment would know it. */

#include "report/html_parts.h"

#include <math.h>

struct tile {
    const char *name;
    bool main;
    bool simulator_only;
};

static void tile_open(FILE *page, const struct tile *tile)
{
    (void)fprintf(page, "<div class=\"tile%s\"><div class=\"name\"><span>%s</span>%s</div>",
                  tile->main ? " main" : "", tile->name,
                  tile->simulator_only ? "<span class=\"tag\">simulator only</span>" : "");
    (void)fputs("<div class=\"value\">", page);
}

/* A label that is a number: how far off the chosen model is, in the label's own unit. */
static void error_tiles(FILE *page, const struct result *result)
{
    tile_open(page, &(struct tile){"Root mean square error", true, true});
    html_number(page, result->error.root_mean_square, 3);
    (void)fputs("</div><div class=\"beside\">constant ", page);
    html_number(page, result->error.constant, 3);
    (void)fputs(" \xc2\xb7 pooled ", page);
    html_number(page, result->error.pooled, 3);
    (void)fputs("</div></div>\n", page);
    tile_open(page, &(struct tile){"Mean absolute error", true, true});
    html_number(page, result->error.mean_absolute, 3);
    (void)fputs("</div><div class=\"beside\">", page);
    if (isfinite(result->error.pinball)) {
        (void)fputs("pinball ", page);
        html_number(page, result->error.pinball, 3);
    } else {
        (void)fputs("in the label\xe2\x80\x99s own unit", page);
    }
    (void)fputs("</div></div>\n", page);
}

static void price_tiles(FILE *page, const struct result *result)
{
    tile_open(page, &(struct tile){"Privacy price", false, false});
    (void)fprintf(page, "\xce\xb5 %.3g</div><div class=\"beside\">in all, per ",
                  result->privacy.epsilon);
    html_text(page, result->privacy.unit);
    (void)fprintf(page, "%s</div></div>\n", result->private ? "" : ", had the noise been secret");
    tile_open(page, &(struct tile){"Rounds", false, false});
    (void)fprintf(page, "%zu</div><div class=\"beside\">", result->round_count);
    html_count(page, result->agent_count, false);
    (void)fprintf(page, " institution%s", result->agent_count == 1 ? "" : "s");
    if (isfinite(result->seconds)) {
        (void)fprintf(page, " \xc2\xb7 %.1f seconds", result->seconds);
    }
    (void)fputs("</div></div>\n</div>\n", page);
}

static void tiles(FILE *page, const struct result *result)
{
    bool exact = isfinite(result->accuracy);
    (void)fputs("<div class=\"tiles\">\n", page);
    if (isfinite(result->error.root_mean_square)) {
        error_tiles(page, result);
        price_tiles(page, result);
        return;
    }
    tile_open(page, &(struct tile){"Accuracy", true, exact});
    html_percent(page, result->accuracy);
    (void)fputs("</div><div class=\"beside\">", page);
    if (exact) {
        (void)fputs("majority ", page);
        html_percent(page, result->baseline.majority);
        (void)fputs(" \xc2\xb7 pooled ", page);
        html_percent(page, result->baseline.pooled_accuracy);
    } else {
        (void)fputs("not computed: it needs exact records", page);
    }
    (void)fputs("</div></div>\n", page);
    tile_open(page, &(struct tile){"Ranking (AUC)", true, exact});
    html_number(page, result->auc, 3);
    (void)fputs("</div><div class=\"beside\">", page);
    if (exact) {
        (void)fputs("coin 0.5 \xc2\xb7 pooled ", page);
        html_number(page, result->baseline.pooled_auc, 3);
    } else {
        (void)fputs("not computed: it needs exact records", page);
    }
    (void)fputs("</div></div>\n", page);
    price_tiles(page, result);
}

static void learned(FILE *page, const struct result *result)
{
    (void)fputs("<p><b>What was learned</b>", page);
    html_count(page, result->agent_count, true);
    (void)fprintf(page, " institution%s built ", result->agent_count == 1 ? "" : "s");
    html_count(page, result->expert_count, false);
    (void)fprintf(page, " candidate model%s together", result->expert_count == 1 ? "" : "s");
    if (result->chosen != RESULT_NONE) {
        (void)fputs(" and settled on \xe2\x80\x9c", page);
        html_text(page, result->expert[result->chosen].name);
        (void)fputs("\xe2\x80\x9d", page);
    } else {
        (void)fputs("; none was chosen", page);
    }
    (void)fputs(result->simulated
                    ? ". One machine played all parts, each institution a process with its own "
                      "records, key and ledger; the coordinator was sent only sums that carry "
                      "noise.</p>\n"
                    : ". Records never left their institution; the coordinator was sent only sums "
                      "that carry noise.</p>\n",
                page);
}

static void close_to_pooled(FILE *page, const struct result *result)
{
    const double majority = result->baseline.majority;
    const double pooled = result->baseline.pooled_accuracy;
    (void)fputs("<p><b>How close to pooling all records</b>", page);
    if (isfinite(result->error.root_mean_square)) {
        (void)fputs("On records that nobody learned from, its root mean square error is ", page);
        html_number(page, result->error.root_mean_square, 3);
        (void)fputs("; always answering their mean would err by ", page);
        html_number(page, result->error.constant, 3);
        (void)fputs(
            "; least squares on everybody\xe2\x80\x99s records in one place, without privacy, by ",
            page);
        html_number(page, result->error.pooled, 3);
        (void)fputs(".</p>\n", page);
        return;
    }
    if (!isfinite(result->accuracy) || !isfinite(pooled)) {
        (void)fputs(
            "Unknown, by design: to compare with records pooled in one place one would have to "
            "pool them. A rehearsal with <code>hedgerow simulate</code> on public records "
            "answers this question.</p>\n",
            page);
        return;
    }
    (void)fputs("On ", page);
    html_grouped(page, result->baseline.records_held);
    (void)fputs(" records that nobody learned from, it is right on ", page);
    html_percent(page, result->accuracy);
    (void)fputs(". Always answering the more frequent class would reach ", page);
    html_percent(page, majority);
    (void)fputs(
        "; the forbidden model, trained on everybody\xe2\x80\x99s records in one place without "
        "privacy, ",
        page);
    html_percent(page, pooled);
    (void)fputs(".", page);
    if (pooled > majority && result->accuracy > majority) {
        (void)fprintf(page, " That is %.0f%% of the way from the one to the other.",
                      100.0 * (result->accuracy - majority) / (pooled - majority));
    }
    (void)fputs("</p>\n", page);
}

static void cost(FILE *page, const struct result *result)
{
    double epsilon = result->privacy.epsilon;
    (void)fputs("<p><b>What it cost in privacy</b>", page);
    if (!result->private) {
        (void)fputs(
            "Nothing here is protected: the noise can be drawn again by anyone who knows the "
            "seed. With secret noise the same job would hold to the following. ",
            page);
    }
    if (isfinite(epsilon)) {
        (void)fputs("Replace any one ", page);
        html_text(page, result->privacy.unit);
        (void)fprintf(
            page,
            " of an institution by another: whatever can be observed becomes at most %.3g "
            "times as likely, or as unlikely (\xce\xb5 = %.4g",
            exp(epsilon), epsilon);
        if (result->privacy.delta > 0.0) {
            (void)fprintf(page, ", but for a chance of at most \xce\xb4 = %.3g",
                          result->privacy.delta);
        }
        (void)fputs(").", page);
    }
    (void)fputs(" Under \xe2\x80\x9c", page);
    html_text(page, result->privacy.trust);
    (void)fputs("\xe2\x80\x9d trust each institution adds its noise itself, before anything leaves "
                "it.</p>\n",
                page);
}

static void exact_only(FILE *page, const struct result *result)
{
    (void)fputs("<p><b>What only a rehearsal can know</b>", page);
    if (result->simulated) {
        (void)fputs(
            "Everything marked <span class=\"tag\">simulator only</span> was computed from "
            "exact records by the simulator, which holds all of them. A deployment does not "
            "have these figures: they are not private. Losses, weights, regret and spending "
            "are what a deployment sees, too.</p>\n",
            page);
    } else {
        (void)fputs(
            "Accuracy, AUC and the pooled model need exact records, so they are missing here. "
            "Losses, weights and regret are computed from released, noisy values; spending "
            "counts the answers that arrived.</p>\n",
            page);
    }
}

void html_summary(FILE *page, const struct result *result)
{
    (void)fputs("<header>\n<div class=\"brand\"><b>hedgerow</b><span>", page);
    html_text(page, result->job);
    (void)fprintf(page, "</span><span>%s</span></div>\n<h1>",
                  result->simulated ? "a rehearsal on one machine" : "a federation");
    if (result->finished) {
        html_count(page, result->agent_count, true);
        (void)fprintf(page, " institution%s learned one model together%s",
                      result->agent_count == 1 ? "" : "s",
                      result->simulated ? ", in rehearsal." : ". Every record stayed at home.");
    } else {
        (void)fputs("The job has not come to its end.", page);
    }
    (void)fputs(
        "</h1>\n<p class=\"lede\">Private federated learning: institutions answer with noisy "
        "sums, a coordinator adds them up, and the best of many candidate models is picked "
        "by its noisy losses.</p>\n",
        page);
    tiles(page, result);
    (void)fputs("</header>\n<main>\n<section aria-label=\"In plain words\" class=\"words\">\n",
                page);
    learned(page, result);
    close_to_pooled(page, result);
    cost(page, result);
    exact_only(page, result);
    (void)fputs("</section>\n", page);
}
