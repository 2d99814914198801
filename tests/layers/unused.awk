# unused.awk - judges the lines that strip.awk prints: names each function that a header declares and no
# program uses. Read first: tests/layers/for_tests.txt, one such function a line that tests need.
# A line that begins at the margin declares or defines what stands before its first parenthesis; any other
# mention is a use, also in the function's own file.

function named_at_margin(text) {
    gsub(/__attribute__ *\(\([^)]*\)\)/, "", text)
    if (text !~ /^[A-Za-z]/ || text ~ /^typedef/ || !match(text, /[ *][a-z][a-z0-9_]*\(/)) return ""
    return substr(text, RSTART + 1, RLENGTH - 2)
}

BEGIN { FS = "\t" }

FILENAME ~ /for_tests.txt$/ {
    if ($0 !~ /^#/ && NF > 0) { split($0, word, " "); for_tests[word[1]] = 1 }
    next
}

$1 ~ /^tests\// { next }

{
    code = $3
    for (i = 4; i <= NF; i++) code = code " " $i
    name = named_at_margin(code)
    if ($1 ~ /\.h$/ && name != "" && code !~ /^static/) declared[name] = $1 ":" $2
    n = split(code, word, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++) if (word[i] != name) used[word[i]] = 1
}

END {
    for (name in declared)
        if (!(name in used) && !(name in for_tests))
            print declared[name] ": no program uses " name "(): remove it, or say in tests/layers/for_tests.txt why tests need it"
}
