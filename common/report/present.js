/* The report shows itself once it is whole. */
present((result.private ? "" : "NOT PRIVATE \u00b7 ") + result.job + " \u00b7 hedgerow report", all);
