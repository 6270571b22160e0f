package jobstore

import (
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/uptime"
)

// State is how far a job is. The set is closed; programs rely on the words.
type State string

// States. A job begins as queued and ends as completed or as failed for good.
const (
	Queued          State = "QUEUED"           // waits for its first attempt
	InProgress      State = "IN_PROGRESS"      // probers were asked
	Completed       State = "COMPLETED"        // some region measured; whether up or down is in its look
	FailedRetryable State = "FAILED_RETRYABLE" // waits for its next attempt
	FailedPermanent State = "FAILED_PERMANENT" // no region measured, and none will
)

// States lists all of them.
func States() []State {
	return []State{Queued, InProgress, Completed, FailedRetryable, FailedPermanent}
}

// Final says whether a job in this state has ended.
func (s State) Final() bool { return s == Completed || s == FailedPermanent }

// Job is a check on demand: what is visited, from where, and what came of it.
type Job struct {
	ID            string
	URL           string
	Kind          uptime.Kind
	Timeout       time.Duration
	Spec          uptime.SpecText // secrets sealed
	Regions       []string        // empty: those that are active when it starts
	TargetID      int64           // the saved target that it previews; 0: none
	CreatedBy     string          // as the audit log names who asked
	State         State
	RetryCount    int // attempts after the first
	CreatedAt     time.Time
	UpdatedAt     time.Time
	LastAttemptAt time.Time     // zero: none yet
	NextAttemptAt time.Time     // of jobs that wait for one
	Error         string        // why it failed, or which regions did not measure; one line
	Looks         []uptime.Look // the newest of each region, by region
}

// NewID makes an id. Ids of one process rise.
func NewID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}
