# strip.awk - prints every line of C sources as "path<TAB>line<TAB>code", without comments, and with the
# insides of strings and characters gone; what an #include names is kept.

FNR == 1 { in_comment = 0 }
{
    kept = ""
    text = $0
    include = !in_comment && text ~ /^[ \t]*#[ \t]*include/
    while (text != "") {
        if (in_comment) {
            at = index(text, "*/")
            if (at == 0) { text = ""; break }
            text = substr(text, at + 2)
            in_comment = 0
            kept = kept " "
            continue
        }
        if (!match(text, /\/\*|\/\/|"|'/)) { kept = kept text; break }
        found = substr(text, RSTART, RLENGTH)
        kept = kept substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (found == "//") break
        if (found == "/*") { in_comment = 1; continue }
        # A quoted piece: up to the next quote of its kind that no backslash hides.
        piece = ""
        while (text != "") {
            c = substr(text, 1, 1)
            if (c == "\\") { piece = piece substr(text, 1, 2); text = substr(text, 3); continue }
            text = substr(text, 2)
            if (c == found) break
            piece = piece c
        }
        kept = kept found (include ? piece : "") found
    }
    printf "%s\t%d\t%s\n", FILENAME, FNR, kept
}
