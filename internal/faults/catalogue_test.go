package faults

// fault is a line of the table, whoever proves it.
type fault struct {
	id      string
	star    bool // a headline: `make verify` runs it
	n       int  // trials the table asks for; 0: once
	what    string
	promise string
	proven  string // the command that proves it, where it is not a row of the rig
	absent  string // why it cannot be injected here, and how to do it
}

// catalogue are the faults under which nothing may be lost, counted twice or left
// unexplained. Every one is a row of the rig, or says what proves it, or why
// nothing does here.
func catalogue() []fault {
	return []fault{
		{id: "F01", star: true, n: 200, what: "publisher killed in the middle of a tick", promise: "nothing lost or doubled; due slots resume within 8 s; what can still be done is caught up, the rest is `missed(publisher_down)`"},
		{id: "F02", star: true, n: 50, what: "two, then three publishers at once, while targets are added, paused and deleted", promise: "no slot twice in the stream; takeover within 8 s"},
		{id: "F03", n: 10, what: "publisher frozen for 60 s, then let go", promise: "its stale ticks are refused; no burst"},
		{id: "F04", n: 3, what: "relational database away for 10 minutes", promise: "checks go on from the last schedule; edits get 503"},
		{id: "F05", star: true, n: 3, what: "the stream is full: nobody reads it", promise: "nothing unread is trimmed; what is refused is `missed(backpressure)`; Redis memory stays flat"},
		{id: "F06", what: "the publisher's clock jumps", promise: "no gap, no burst, ids ascend", proven: "go test -race -run 'Freeze|ClocksThatDisagree|AnyHistory' ./publisher/internal/cycle/"},
		{id: "F08", n: 10, what: "target deleted while its checks are in the stream, pending, on disk and in flight", promise: "gone everywhere within a minute; nothing brings it back"},
		{id: "F09", n: 20, what: "Redis comes back with no data", promise: "groups are rebuilt within a tick; the gap is stated"},
		{id: "F10", star: true, n: 500, what: "prober killed, again and again", promise: "nothing lost or doubled; its slots are done again within 60 s"},
		{id: "F11", star: true, n: 50, what: "prober frozen for 120 s, then let go", promise: "its work is taken over; its late results change nothing"},
		{id: "F12", what: "a check ignores that its time is over", promise: "`unknown(probe_hang)` two seconds after its timeout; its place is free, other checks do not notice; a target of which three hang gets no more visits until they end", proven: "go test -race -run 'HangingVisit|FrozenVisit' ./prober/internal/probe/"},
		{id: "F13", star: true, n: 20, what: "a prober's runtime is wedged", promise: "killed within 20 s, a new row within 25 s"},
		{id: "F14", star: true, n: 20, what: "nobody reads what a prober prints", promise: "checks go on; the watchdog still ends the process at once"},
		{id: "F15", n: 10, what: "prober killed for its memory", promise: "the bound holds; afterwards as F10"},
		{id: "F16", star: true, n: 20, what: "the disk of the spool is full", promise: "no acknowledgement without an fsync; intake pauses; it goes on within 5 s"},
		{id: "F17", star: true, what: "spool file torn at every byte, every byte of three records flipped", promise: "every intact record is recovered; a full spool opens within 2 s", proven: "go test -race -run 'Truncated|Flipped|Damaged|StartReads' ./internal/spool/ && go test -run '^$' -bench Open ./internal/spool/"},
		{id: "F18", n: 10, what: "spool at its cap", promise: "intake pauses; nothing acknowledged is dropped"},
		{id: "F19", what: "fsync fails, or writes short", promise: "exit 74, nothing acknowledged, that fsync is not tried again", n: 10},
		{id: "F20", n: 3, what: "100,000 spooled rows are replayed beside live traffic", promise: "in order, within 90 s, constant memory; live rows stay on time"},
		{id: "F21", n: 20, what: "poison in the stream", promise: "dead-lettered with its reason, its slot `unknown(dead_letter)`; neighbours untouched"},
		{id: "F22", n: 20, what: "one entry delivered to two probers at once", promise: "one row"},
		{id: "F23", star: true, n: 20, what: "an operator trims entries that are being worked on", promise: "each is recorded, by a measurement or as `missed(trimmed)`"},
		{id: "F24", n: 20, what: "rolling restart of everything", promise: "drained within 30 s, exit 0, nothing lost"},
		{id: "F25", what: "the prober's clock is off", promise: "verdicts do not change; the skew is said", proven: "go test -race -run ClockThatJumps ./internal/sharedclock/"},
		{id: "F26", n: 10, what: "half of the inserts fail", promise: "the breaker opens within 5 s, tries one at a time, and does not flap"},
		{id: "F27", what: "the signals of the scaler flip, or one of them is missing", promise: "a worker more or less each 5 s at most, within 1 to 20, two changes of direction a minute at most; a missing signal holds", proven: "go test -race -run 'TraceIsTheModels|OneDecision|FollowsTheSignals|DoesNotOscillate' ./prober/internal/scaler/"},
		{id: "F28", what: "crash loops", promise: "a wrong configuration is not tried again, early exits back off, a healthy process comes back at once", proven: "go test -race ./deploy/probefleet/internal/supervisor/"},
		{id: "F30", star: true, n: 10, what: "Redis down for 10 minutes", promise: "no finished result is lost; what was not checked is `missed(redis_down)`; normal within 5 s"},
		{id: "F31", n: 50, what: "Redis killed, with its last second not yet on disk", promise: "what was lost of the queue is made again; nothing doubled"},
		{id: "F32", n: 3, what: "Redis hangs", promise: "every call ends; goroutines stay flat; /healthz says so within 5 s"},
		{id: "F33", n: 5, what: "Redis slow and trickling", promise: "no storm of takeovers: at most 1 % runs twice"},
		{id: "F34", n: 5, what: "one region cut off from Redis and ClickHouse", promise: "its rows wait on disk; no target turns down"},
		{id: "F35", n: 5, what: "Redis at its memory limit", promise: "publishing is refused and stated; probers still acknowledge"},
		{id: "F36", n: 5, what: "failover to a replica that is behind", promise: "ids never go back; the lost tail is published again"},
		{id: "F37", what: "the clock of Redis jumps by an hour, and back", promise: "publishing pauses and says so; ids ascend", n: 5},
		{id: "F38", n: 20, what: "an operator trims entries that nobody has read", promise: "the sweep states each as `missed(lost)`"},
		{id: "F39", what: "prober restarts twice with equal counters", promise: "every row is kept: tokens never repeat", proven: "go test -race -run 'TwoBoots|Token|Once' ./internal/recorder/ ./internal/resultstore/"},
		{id: "F40", star: true, n: 10, what: "ClickHouse down for 10 minutes", promise: "nothing lost or doubled; the backlog is gone within 90 s"},
		{id: "F41", star: true, n: 500, what: "connection reset or answer lost in the middle of an insert", promise: "nothing lost, nothing stored twice"},
		{id: "F42", star: true, n: 400, what: "prober killed at each edge of the machine", promise: "nothing lost or doubled"},
		{id: "F43", n: 50, what: "ClickHouse killed while it writes", promise: "as F41"},
		{id: "F44", n: 5, what: "slow inserts, too many parts", promise: "batches grow to their cap, then intake slows; no timeout doubles a row"},
		{id: "F45", what: "one bad row in a batch of 1,000", promise: "999 stored, one dead-lettered, at most 11 more inserts", proven: "go test -race -run 'OneBadRow|Halves' ./internal/recorder/"},
		{id: "F46", n: 5, what: "more foreign inserts between two tries than ClickHouse remembers tokens", promise: "still nothing visible twice"},
		{id: "F47", n: 5, what: "the disk of ClickHouse is full, or read-only", promise: "rows wait on disk; normal within 5 s"},
		{id: "OUTAGES", n: 1, what: "Redis down for 10 minutes, then ClickHouse for 10, at 10,000 checks a minute", promise: "nothing lost or doubled; normal within 5 s of each; the disks are empty within 90 s"},
		{id: "KILLS", n: 1, what: "any process killed every 5 s for 30 minutes, stores included, at 10,000 checks a minute", promise: "nothing lost or doubled"},
		{id: "F48", n: 5, what: "one live region cannot settle anything", promise: "the others do not notice; its slots are `missed(region_down)`"},
		{id: "F70", what: "a target answers in drops: headers, body, handshake, bytes", promise: "the visit ends at its timeout, 100 ms later at most", proven: "go test -race -run EveryVisitEndsAtItsTimeout ./prober/internal/probe/"},
		{id: "F71", what: "a body without end, or of 10 GB", promise: "256 KiB are read, 1 MiB with a rule about the body, and 20 KiB of framing at most; 4 KiB are kept to be shown", proven: "go test -race -run 'ReadWithinTheirCaps|TinyChunks|TestEvidence' ./prober/internal/probe/ && go test -run LittleMemory ./prober/internal/probe/"},
		{id: "F72", what: "a small body that decodes to a huge one: gzip, br, zstd, deflate", promise: "counted on the wire and decoded, 1 MiB decoded at most; the process grows by 4 MiB at most", proven: "go test -race -run ReadWithinTheirCaps ./prober/internal/probe/ && go test -run LittleMemory ./prober/internal/probe/"},
		{id: "F73", what: "headers without end", promise: "given up at 64 KiB, as `too_large`", proven: "go test -race -run 'ReadWithinTheirCaps|LargeAnswersOverHTTP2' ./prober/internal/probe/ && go test -run LittleMemory ./prober/internal/probe/"},
		{id: "F74", what: "redirects without end, into private networks or to other schemes; interim answers without end", promise: "five hops, each judged again; `redirect_blocked`, never down, and no packet", proven: "go test -race -run 'RedirectsAreCounted|TestRedirects|EveryWayToBeWrong|GetNoPacket|TestGolden' ./prober/internal/probe/"},
		{id: "F75", what: "a handshake that stalls, is asked for again, is refused, or brings 1 MB of certificates; certificates that expired, of another name, of nobody known", promise: "over at its timeout, with the reason by its name", proven: "go test -race -run 'TestGolden|TLSGolden|Renegotiation|StartTLSGolden|EveryVisitEndsAtItsTimeout|FloodsTakeLittleMemory' ./prober/internal/probe/"},
		{id: "F76", star: true, what: "10,000 targets a minute take connections and say nothing, half of them after a handshake", promise: "as many visits at once as rate × timeout make, twice that where a failure is looked at again; 256 MiB at most with timeouts of 10 s, 512 with 30; the others on time ± 2 s; one row a slot", proven: "go test -race -run 'HangingTargetsDelayNobody|SlowHostDelaysNobodyElse' ./prober/internal/consumer/ && go test -tags faults -run ManyTargetsHang ./prober/"},
		{id: "F77", what: "answers that are not HTTP, resets in the middle, HTTP/2 that resets, pings and floods", promise: "a row with a reason, no panic, bounded reading; fuzzed for ten minutes", proven: "go test -race -run 'TestGolden|OddAnswers|HostileHTTP2|AlmostRight|ReadWithinTheirCaps' ./prober/internal/probe/ && FUZZTIME=10m make fuzz"},
		{id: "F78", what: "a name that was public when it was saved and leads inside later, or differs from look-up to look-up", promise: "every address is judged when it is dialled: no packet to one that is blocked, of any kind of check", proven: "go test -race -run GetNoPacket ./prober/internal/probe/ && go test -race -run Rebinding ./prober/internal/resolve/ && go test -race -run Guard ./internal/guard/"},
	}
}
