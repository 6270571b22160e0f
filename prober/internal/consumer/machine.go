package consumer

// state is where an entry is on its way through this prober.
type state uint8

const (
	reading state = iota
	waiting
	probing
	measured
	recording
	backingOff
	spooling
	stored
	acking
	failing
	settled  // the end: acknowledged, or a dead letter
	released // the end here: still pending in Redis, and delivered again
	states
)

var stateNames = [states]string{
	"reading", "waiting", "probing", "measured", "recording", "backoff", "spooling", "stored", "acking", "failing", "settled", "released",
}

func (s state) String() string { return stateNames[s] }

// event is what happens to an entry.
type event uint8

const (
	admitted event = iota
	explained
	owesNothing
	hopeless
	slotCame
	answered
	handedOver
	insertFailed
	insertBegun
	diverted
	durable
	refused
	sent
	confirmed
	buried
	dropped
	events
)

var eventNames = [events]string{
	"admitted", "explained", "owes nothing", "hopeless", "slot came", "answered", "handed over", "insert failed", "insert begun",
	"diverted", "durable", "refused", "sent", "confirmed", "buried", "dropped",
}

func (e event) String() string { return eventNames[e] }

// edge is one line of the statechart.
type edge struct {
	from      state
	on        event
	to        state
	failpoint string // hit once the edge's work is done
	means     string
}

// statechart is the whole life of an entry. What is not in it does not happen: see
// flights.move. docs/statechart.md is drawn from it.
var statechart = [...]edge{
	{reading, admitted, waiting, "reading.waiting", "to be probed at its slot"},
	{reading, explained, measured, "reading.measured", "not probed: it expired or was trimmed, and its row says so"},
	{reading, owesNothing, stored, "reading.stored", "no row is due: deleted target, another region, or a slot nobody can name"},
	{reading, hopeless, failing, "reading.failing", "unreadable, or five deliveries that nobody survived"},

	{waiting, slotCame, probing, "waiting.probing", "the slot has come: the visit begins"},
	{waiting, explained, measured, "waiting.measured", "it had expired before it could begin, since this process stood still, or its host had no place for it or wants to be left alone"},
	{waiting, dropped, released, "waiting.released", "stopping: the slot is too far away"},

	{probing, answered, measured, "probing.measured", "the visit is over and has its row; if it failed, it was believed or not"},
	{probing, dropped, released, "probing.released", "stopping: the visit was cut off and says nothing"},

	{measured, handedOver, recording, "measured.recording", "with those measured in the same instant it is one batch of the recorder's"},
	{measured, dropped, released, "measured.released", "stopping: the row was not handed over"},

	{recording, insertFailed, backingOff, "recording.backoff", "an insert failed: a pause of this batch's own, growing with its attempts"},
	{backingOff, insertBegun, recording, "backoff.recording", "the next attempt"},
	{recording, diverted, spooling, "recording.spooling", "the breaker is open: to disk"},
	{backingOff, diverted, spooling, "backoff.spooling", "the breaker opened while it paused: to disk"},
	{spooling, insertFailed, backingOff, "spooling.backoff", "the disk has no room either: a pause, then whichever works first"},
	{spooling, insertBegun, recording, "spooling.recording", "the rest of it, or all that the disk had no room for, goes to the store"},

	{recording, durable, stored, "recording.stored", "the insert is confirmed"},
	{spooling, durable, stored, "recording.spooled", "file and folder are fsynced"},
	{recording, refused, failing, "recording.failing", "the store will never take this row"},
	{spooling, refused, failing, "spooling.failing", "the store will never take this row; the rest of its batch is on disk"},
	{recording, dropped, released, "recording.released", "the recorder stopped before the row was durable"},
	{backingOff, dropped, released, "backoff.released", "the same, while it paused"},
	{spooling, dropped, released, "spooling.released", "the same, before it was on disk"},

	{stored, sent, acking, "stored.acking", "its acknowledgement is under way, repeated until Redis answers"},
	{acking, confirmed, settled, "acking.settled", "Redis has confirmed: the end"},

	{failing, buried, settled, "failing.settled", "its slot has a row unknown(dead_letter), and the entry is a dead letter: the end"},
	{failing, dropped, released, "failing.released", "stopping: that row is not durable"},
}

// byRecorder says that the recorder itself hits this edge's failpoint, before it
// tells us: nobody knows yet then that the row is durable.
func (e *edge) byRecorder() bool {
	return e.failpoint == "recording.stored" || e.failpoint == "recording.spooled"
}

// machine finds the edge of a state and an event.
type machine [states][events]*edge

func newMachine() *machine {
	m := &machine{}
	for i := range statechart {
		e := &statechart[i]
		m[e.from][e.on] = e
	}
	return m
}
