package faults

// fault is a line of the table, whoever proves it.
type fault struct {
	id      string
	star    bool // a headline: `make test` runs it
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
		{id: "F25", what: "the prober's clock is off", promise: "verdicts do not change; the skew is said", proven: "go test -race -run ClockThatJumps ./prober/internal/consumer/"},
		{id: "F26", n: 10, what: "half of the inserts fail", promise: "the breaker opens within 5 s, tries one at a time, and does not flap"},
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
	}
}
