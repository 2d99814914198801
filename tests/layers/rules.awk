# rules.awk - judges the lines that strip.awk prints. Read first: the declarations, as lines
#     L <library> <folder>            D <library> <direct dependency>
#     P <path of a program's source>  H <path of a header that exists>
#     T <a task's enumerator> <its folder>
#     F <library> <its folder> <pattern of the files that are its, beside that folder>
# Prints one sentence for each violation.

function complain(sentence) { printf "%s:%s: %s\n", path, line, sentence }

function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }

# The library that a file is in: one that names it by a pattern, or else its folder's. A header is where its
# source of the same name would be.
function library_at(file,    source, i) {
    source = file
    sub(/\.h$/, ".c", source)
    for (i = 1; i <= parts; i++) if (source ~ part[i] || file ~ part[i]) return part_library[i]
    return library_of[folder_of(file)]
}

# Where an operator's own settings lie is the one question to the environment.
function is_home(name) { return name == "getenv" && path == "cli/at_settings.c" }
# Which rooms a file is in: tests are judged by few rules; programs see everything. A main file that no
# program declares would slip into its folder's library.
function in_tests() { return path ~ /^(tests|lab\/study)\// } # studies draw without a gate, from a seeded generator
function is_program() { return path ~ /^(agent|coordinator)\/main[_.]/ || path ~ /^cli\// }
function is_pure() {
    return !is_program() && path ~ /^(agent|coordinator|common\/(protocol|experts|query|job|task|dictionary|dp|noise|account)|lab\/(composition|audit))\//
}

# Where privacy is spent: the agent's gate, and the curator that central trust trusts.
function is_way_out() { return path == "agent/gate.c" || path == "coordinator/curator.c" }

# A call by name; a member of a struct may be called what it likes.
function calls(name) { return code ~ "(^|[^A-Za-z0-9_.>])" name "[ \t]*\\(" }

function names(word) { return code ~ "(^|[^A-Za-z0-9_])" word "($|[^A-Za-z0-9_])" }

BEGIN {
    FS = "\t"
    # One foreign library, one room: a header's first letters, and where it may stand.
    foreign["zmq.h"] = "^common/io/endpoint"
    foreign["openssl/"] = "^common/crypto/"
    foreign["sqlite3.h"] = "^common/io/journal_"
    foreign["libpq-fe.h"] = "^common/database/database[.]c"
    foreign["protobuf-c/"] = "^common/protocol/wire"
    foreign["wire.pb-c.h"] = "^common/protocol/wire"
    foreign["operator.pb-c.h"] = "^common/protocol/wire"
    foreign["journal.pb-c.h"] = "^common/protocol/wire"
    foreign["yaml.h"] = "^common/config/"
    foreign["jansson.h"] = "^common/(json/|desk/|http/facts|learn/model|report/|io/log_sink)|^(cli|agent|coordinator)/"
    foreign["immintrin.h"] = "^common/(noise/(laplace|table)_kernel_|crypto/digest_leaves[.]c)"
    foreign["cpuid.h"] = "^common/crypto/digest_leaves[.]c"
    foreign["mpfr.h"] = "^common/(noise|account)/"
    foreign["gmp.h"] = "^common/(noise|account)/"
    foreign["cblas.h"] = "^common/learn/"
    foreign["lapacke.h"] = "^$" # learn/lapack.h says why
    foreign["zlib.h"] = "^common/learn/table"
    foreign["microhttpd.h"] = "^common/http/"
    foreign["criterion/"] = "^tests/"

    # What C11 offers to everybody, with POSIX's strings and trees, and what belongs to those who meet the outside world.
    split("assert complex ctype errno float inttypes iso646 limits locale math search stdalign stdarg" \
          " stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath strings", list, " ")
    for (i in list) harmless[list[i] ".h"] = 1
    split("time threads pthread signal poll fcntl unistd dirent fts netdb termios ifaddrs glob ftw" \
          " dlfcn spawn syslog pwd grp semaphore setjmp libgen fnmatch wordexp mntent err getopt sched malloc", list, " ")
    for (i in list) outside[list[i] ".h"] = 1

    split("sprintf vsprintf strcpy strcat stpcpy strncpy strncat gets atoi atol atoll atof rand srand" \
          " drand48 lrand48 mrand48 random_r rand_r alloca strtok system popen tmpnam mktemp tempnam" \
          " getenv secure_getenv setjmp longjmp", banned, " ")
    split("fopen fdopen freopen fread fwrite fgets fputs fputc fprintf vfprintf printf vprintf puts" \
          " putchar perror open openat creat read write pread pwrite socket connect accept bind" \
          " listen send recv sendto recvfrom poll select time clock gettimeofday clock_gettime" \
          " nanosleep usleep sleep fork vfork execve pthread_create thrd_create getrandom getentropy" \
          " signal sigaction exit _exit getpid", outward, " ")
}

$1 == "L" { library_of[$3] = $2; next }
$1 == "F" {
    if ($4 == "*.c") next
    pattern = $3 "/" $4
    while (pattern ~ /[^\/]+\/\.\.\//) sub(/[^\/]+\/\.\.\//, "", pattern)
    gsub(/\./, "[.]", pattern)
    gsub(/\*/, "[^/]*", pattern)
    part[++parts] = "^" pattern "$"
    part_library[parts] = $2
    next
}
$1 == "D" { depends[$2, $3] = 1; next }
$1 == "P" { program[$2] = 1; next }
$1 == "H" { header[$2] = 1; next }
$1 == "T" { task_folder[$2] = $3; next }

{
    path = $1
    line = $2
    code = $3
    for (i = 4; i <= NF; i++) code = code " " $i
}

path ~ /^(agent|coordinator)\/main[_.a-z]*\.c$/ && !(path in program) && !(path in homeless) {
    complain("a main file that no house_program names")
    homeless[path] = 1
}

code ~ /^[ \t]*#[ \t]*include[ \t]*"/ {
    named = code
    sub(/^[^"]*"/, "", named)
    sub(/".*$/, "", named)
    if (("common/" named) in header) target = "common/" named
    else if (named in header) target = named
    else target = ""
    if (target == "") {
        if (!in_tests()) complain("includes \"" named "\", which is no header of this project")
        next
    }
    room = folder_of(path)
    other = folder_of(target)
    if (target == "common/dp/ledger_private.h" && room != "common/dp")
        complain("only common/dp may see dp/ledger_private.h: what was spent changes through ledger.h alone")
    if (target == "common/dp/select_private.h" && room !~ /^(common\/(dp|experts)|lab\/audit)$/ && !in_tests())
        complain("only selections, their audits and tests may see dp/select_private.h: a private pick comes from select.h")
    if (target == "common/dp/mechanism.h" && room !~ /^(common\/(dp|job)|lab\/audit)$/ && !is_way_out() && !in_tests())
        complain("only agent/gate.c and coordinator/curator.c may see dp/mechanism.h: they are the only ways out")
    if (target ~ /^common\/(learn\/(dataset|csv|header|table)|describe\/describe)\.h$/ && room !~ /^(common\/(learn|describe)|agent|cli)$/ && library_at(path) != "task_answer" && !in_tests())
        complain("only the agent's rooms and cli/ may see what reads records")
    if (target ~ /^lab\// && room !~ /^(lab\/|cli$)/ && !in_tests())
        complain("only cli/ and the tests may see the lab: no daemon plans, audits or studies")
    if (target ~ /^tests\// && !in_tests())
        complain("code must not include what belongs to the tests")
    from = library_at(path)
    to = library_at(target)
    if (in_tests() || is_program() || (from == to && from != "")) next
    if (from == "" || to == "") {
        if (from != "") room = other
        if (room == other && from == to) next
        if (!(room in undeclared)) complain("no CMakeLists.txt declares the library of " room)
        undeclared[room] = 1
    } else if (!((from, to) in depends))
        complain(from " does not declare that it depends on " to)
    next
}

code ~ /^[ \t]*#[ \t]*include[ \t]*</ {
    named = code
    sub(/^[^<]*</, "", named)
    sub(/>.*$/, "", named)
    for (start in foreign)
        if (index(named, start) == 1) {
            if (path !~ foreign[start] && !in_tests())
                complain("<" named "> stays in one room: " foreign[start])
            next
        }
    if (named in harmless) next
    if ((named in outside) || named ~ /^(sys|arpa|netinet|net|linux)\//) {
        if (is_pure())
            complain("<" named "> belongs to the outside world; this room must stay pure")
        next
    }
    if (!in_tests()) complain("<" named "> belongs to no room: say in tests/layers/rules.awk which one")
    next
}

{
    for (i in banned)
        if (calls(banned[i]) && (!in_tests() || banned[i] ~ /rand/) && !is_home(banned[i])) complain(banned[i] "() is banned")
    if (is_pure()) {
        for (i in outward)
            if (calls(outward[i])) complain(outward[i] "() belongs to the outside world; this room must stay pure")
        if (names("FILE")) complain("a FILE belongs to the outside world; this room must stay pure")
    }
    if (code ~ /(^|[^A-Za-z0-9_])memset\([^,]*(secret|passphrase|ticket|token)[^,]*, *0,/ && !in_tests())
        complain("a secret is wiped by bytes_wipe: the compiler may leave out a memset whose bytes nobody reads")
    if (calls("ledger_spend") && path !~ /^(common\/dp|lab\/audit)\// && !is_way_out() && !in_tests())
        complain("ledger_spend() is for agent/gate.c and coordinator/curator.c alone: they are the only ways out")
    # mechanism_scale and mechanism_sigma tell from a job's text whether a mechanism will run; nothing comes out of them.
    if (calls("mechanism_([a-rt-z]|s[a-bd-hj-z])[a-z0-9_]*") && path !~ /^(common\/dp|lab\/audit)\// && !is_way_out() && !in_tests())
        complain("mechanisms run in agent/gate.c and coordinator/curator.c alone: they are the only ways out")
    # What differs by task or by trust is a fact in its row, for which others ask.
    gsub(/(^|[^A-Za-z0-9_])TRUST_COUNT/, " ", code) # a table's size
    if (names("TRUST_[A-Z]+") && path !~ /^common\/job\/(job[.]h|trust[.]c)$/ && !in_tests())
        complain("names a trust: ask for a fact of its row (job/trust.h)")
    for (task in task_folder)
        if (names(task) && index(path, task_folder[task]) != 1 && !in_tests())
            complain("names " task " outside its folder: ask for a fact of its row (task/task.h, task/close.h)")
}
