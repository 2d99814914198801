#!/bin/sh
# Known answers for the wire, packed by protoc (the C++ implementation) and not by our own code: a line
# per message, its name and its bytes. Run in the folder of this file; needs Debian's protobuf-compiler.
set -eu

digest() { # a byte's hexadecimal digits -> 32 times that byte
    for _ in 1 2 3 4 5 6 7 8; do printf '\\x%s\\x%s\\x%s\\x%s' "$1" "$1" "$1" "$1"; done
}

pack() { # name file message text
    printf '%s ' "$1"
    printf '%s' "$4" | protoc --proto_path=../../proto --encode="$3" "$2" | od -An -v -tx1 | tr -d ' \n'
    echo
}

frame() { pack "$1" wire.proto wire.Envelope "$2"; }
record() { pack "$1" journal.proto journal.Record "$2"; }

A=$(digest 0a) B=$(digest b0) C=$(digest c1) D=$(digest 7d)
{
    frame hello-first 'hello { version: 9 }'
    frame hello "hello { version: 9 job: \"$A\" rounds_closed: 300 ready: true }"
    frame hello-showing "hello { version: 9 job: \"$A\" rounds_closed: 300 ready: true dictionary: \"$D\" }"
    frame dictionary "dictionary { digest: \"$D\" }"
    frame show "show { digest: \"$D\" }"
    frame offer "offer { job: \"$A\" round: 2 invitation: \"$B\" answer: \"$C\" bytes: 8000000 }"
    frame offer-share "offer { job: \"$A\" round: 2 invitation: \"$B\" answer: \"$C\" bytes: 8000000
        records: 3000 }"
    frame offer-rounded "offer { job: \"$A\" round: 2 invitation: \"$B\" answer: \"$C\" bytes: 2000000
        shift: 12 }"
    frame chunk "chunk { job: \"$A\" round: 2 offset: 65536 }"
    frame decline "decline { job: \"$A\" }"
    frame fetch "fetch { digest: \"$D\" offset: 1 length: 65536 }"
    frame enrol "enrol { public_key: \"$B\" }"
    frame welcome "welcome { version: 9 job: \"$A\" nonce: \"$B\" text: \"$C\" text_bytes: 65536
        rounds_closed: 1000000 }"
    frame welcome-older "welcome { version: 9 job: \"$A\" nonce: \"$B\" text: \"$C\" text_bytes: 65536
        rounds_closed: 1000000 older: 1 }"
    frame welcome-five "welcome { version: 9 job: \"$A\" nonce: \"$B\" text: \"$C\" text_bytes: 65536
        rounds_closed: 1000000 older: 2 }"
    frame welcome-six "welcome { version: 9 job: \"$A\" nonce: \"$B\" text: \"$C\" text_bytes: 65536
        rounds_closed: 1000000 older: 3 }"
    frame welcome-seven "welcome { version: 9 job: \"$A\" nonce: \"$B\" text: \"$C\" text_bytes: 65536
        rounds_closed: 1000000 older: 4 }"
    frame welcome-eight "welcome { version: 9 job: \"$A\" nonce: \"$B\" text: \"$C\" text_bytes: 65536
        rounds_closed: 1000000 older: 5 }"
    frame invite-fit "invite { job: \"$A\" deadline_ms: 60000 }"
    frame invite "invite { job: \"$A\" round: 999999 input: \"$D\" input_bytes: 88 deadline_ms: 1 }"
    frame invite-slot "invite { job: \"$A\" deadline_ms: 60000 slot: 9999 }"
    frame pull "pull { job: \"$A\" round: 2 offset: 1099511627775 length: 1 }"
    frame release "release { job: \"$A\" round: 2 last: true experts: \"$D\" experts_bytes: 88
        chosen: 3 }"
    frame release-failed "release { job: \"$A\" round: 2 failed: true }"
    frame piece "piece { digest: \"$D\" offset: 65536 }"
    frame enrolled 'enrolled { name: "hospital-1" }'
    frame challenge 'challenge { number: 300 }'
    frame key-in-use 'key_in_use { }'
    frame present 'present { number: 18446744073709551615 }'
    frame roster "roster { job: \"$A\" round: 2 width: 32 }"
    for leg in keys survivors signed open reveal; do
        frame "$leg" "$leg { job: \"$A\" round: 2 }"
    done
    frame want 'want { }'
    frame want-shared 'want { shared: true }'
    frame line "line { port: 65535 id: \"$(printf '\\x5e%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)\" to_coordinator: \"$B\" to_agent: \"$C\" }"
    record job "wall_ms: 1700000000000
        job { job: \"$A\" nonce: \"$B\" text_digest: \"$C\" text: \"name: x\\n\" }"
    record job-elsewhere "wall_ms: 1700000000000
        job { job: \"$A\" nonce: \"$B\" text_digest: \"$C\" text_bytes: 8 }"
    record job-trees "wall_ms: 1700000000000
        job { job: \"$A\" nonce: \"$B\" text_digest: \"$C\" text: \"name: x\\n\" trees: true }"
    record job-shares "wall_ms: 1700000000000
        job { job: \"$A\" nonce: \"$B\" text_digest: \"$C\" text: \"name: x\\n\" trees: true shares: true }"
    record job-of-seven "wall_ms: 1700000000000
        job { job: \"$A\" nonce: \"$B\" text_digest: \"$C\" text: \"name: x\\n\" trees: true shares: true protocol: 7 }"
    record answer "wall_ms: -1 answer { job: \"$A\" round: 2 task: \"losses\" epsilon_micro: 250000
        pass: \"$D\" row_first: 64 row_count: 32 invitation: \"$B\" answer: \"$C\" answer_bytes: 24 }"
    record answer-event "wall_ms: 1 answer { job: \"$A\" round: 2 task: \"update\" delta_atto: 7
        pass: \"$D\" row_count: 32 invitation: \"$B\" answer: \"$C\" answer_bytes: 24 mechanism: 4
        neighbours: 1 sigma_micro: 4500000 count: 12 sampling_nano: 10000000 }"
    record answer-rounded "wall_ms: 1 answer { job: \"$A\" round: 2 task: \"update\" epsilon_micro: 250000
        pass: \"$D\" row_count: 32 invitation: \"$B\" answer: \"$C\" answer_bytes: 24 shift: 12 }"
    record round "wall_ms: 1 round { job: \"$A\" round: 2 chosen: 1 agent: \"hospital-1\"
        agent: \"hospital-2\" sum: -1 sum: 4611686018427387904 blob_bytes: 0 duration_ms: 1500 }"
    record round-share "wall_ms: 1 round { job: \"$A\" round: 2 chosen: 1 agent: \"hospital-1\"
        agent: \"hospital-2\" sum: -1 sum: 4611686018427387904 blob_bytes: 0 duration_ms: 1500
        records: 5000 }"
    record round-turn "wall_ms: 1 round { job: \"$A\" round: 2 agent: \"hospital-1\"
        agent: \"hospital-2\" blob_bytes: 8 duration_ms: 1500 away: \"hospital-2\" }"
    record roster-kept "wall_ms: 1 roster { job: \"$A\" round: 2 bytes: 300 width: 32 }"
    record survivors-kept "wall_ms: 1 survivors { job: \"$A\" round: 2 set: \"$D\" }"
    record keys-kept "wall_ms: 1 keys { job: \"$A\" round: 2 invitation: \"$B\" bytes: 300 }"
} > wire.txt

# The fuzzer begins with these.
while read -r name bytes; do
    printf '%s' "$bytes" | xxd -r -p > "../fuzz/corpus/fuzz_wire/$name"
done < wire.txt
