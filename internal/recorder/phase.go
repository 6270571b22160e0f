package recorder

// Phase is where the rows of a Record are on their way to being durable.
type Phase uint8

// Phases. A record begins as Buffered, which is not announced.
const (
	Buffered   Phase = iota // waits for company, or for its turn
	Inserting               // the store is being asked
	BackingOff              // neither store nor spool took it: waits for the next attempt
	Spooling                // is being written to disk
)

func (p Phase) String() string {
	return [...]string{"buffered", "inserting", "backing_off", "spooling"}[p]
}

// Watch follows one Record. Its functions are called from the writer goroutine, must
// be quick and must not call Record.
type Watch struct {
	// Done is called exactly once: with nil when every row is durable, in the store or
	// in the spool.
	Done func(err error)
	// Phase, if not nil, is told each change with the attempt of the batch the rows are
	// in, counted from 1. A Record whose rows are in several batches hears of each.
	Phase func(p Phase, attempt int)
	// Hurry has the rows written without waiting for company, as long as the store takes
	// rows: somebody waits for this answer before going on, and asks seldom.
	Hurry bool
}

// Level says how hard it is to get rid of rows.
type Level uint8

// Levels of State.Pressure.
const (
	LevelOK       Level = iota
	LevelDegraded       // inserts fail, or the spool is more than 80 % full
	LevelError          // no room on disk and more than half of the buffer is used: callers will soon wait
)
