package service

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// LastExit is how the life of a program before this one ended. Its supervisor
// writes it down, for the program itself may have had no time to.
//
// The file is one line of words as systemd has them ($SERVICE_RESULT, $EXIT_CODE
// and $EXIT_STATUS), so that a unit's ExecStopPost writes it with echo:
//
//	result=watchdog how=killed status=KILL at=2026-03-01T10:00:00Z ran=1h2m3s
type LastExit struct {
	How    string    `json:"how"`              // exited, killed or dumped
	Code   int       `json:"code"`             // exit code; -1 when a signal ended it
	Signal string    `json:"signal,omitempty"` // KILL, SEGV, …
	Cause  string    `json:"cause"`            // one of a closed set, for metrics
	Reason string    `json:"reason"`           // for people
	At     time.Time `json:"at"`
	AfterS float64   `json:"after_s,omitempty"` // how long it had run

	result string
}

// Results, in systemd's words.
const (
	ResultSuccess  = "success"
	ResultExitCode = "exit-code"
	ResultSignal   = "signal"
	ResultWatchdog = "watchdog" // it did not answer and was killed
)

// NewLastExit states an exit: status is an exit code, or a signal's name without SIG.
func NewLastExit(result, how, status string, at time.Time, ran time.Duration) LastExit {
	e := LastExit{How: how, Code: -1, At: at.UTC().Truncate(time.Second), AfterS: ran.Round(time.Millisecond).Seconds(), result: result}
	code, err := strconv.Atoi(status)
	switch {
	case result == ResultWatchdog:
		e.Signal, e.Cause, e.Reason = status, "unresponsive", "it answered nobody and its supervisor killed it"
	case err != nil:
		e.Signal, e.Cause, e.Reason = status, "signal", "signal "+status+" ended it"
	default:
		e.Code = code
		e.Cause, e.Reason = causeOf(code)
	}
	return e
}

func causeOf(code int) (cause, reason string) {
	switch code {
	case ExitOK:
		return "drained", "drained"
	case ExitWatchdog:
		return "watchdog", "its watchdog found a stage without progress"
	case ExitGap:
		return "gap", "it resumed after a gap longer than its lease"
	case ExitSpool:
		return "spool", "its spool could not be written"
	case ExitDependency:
		return "dependency", "a dependency was missing at start"
	case ExitConfig:
		return "config", "its configuration was wrong"
	}
	return "failure", "it failed: its log says why"
}

// Write replaces the file at once, so that nobody reads half of it.
func (e LastExit) Write(path string) error {
	status := e.Signal
	if e.Code >= 0 {
		status = strconv.Itoa(e.Code)
	}
	line := fmt.Sprintf("result=%s how=%s status=%s at=%s ran=%v\n", e.result, e.How, status, e.At.Format(time.RFC3339),
		time.Duration(e.AfterS*float64(time.Second)).Round(time.Millisecond))
	if err := os.WriteFile(path+".tmp", []byte(line), 0o600); err != nil {
		return fmt.Errorf("writing the last exit: %w", err)
	}
	return os.Rename(path+".tmp", path)
}

// ReadLastExit reads what Write or a systemd unit has written; nil when there is
// no file, or no path: this is the first life, or nobody keeps count.
func ReadLastExit(path string) (*LastExit, error) {
	if path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	words := map[string]string{}
	for _, word := range strings.Fields(string(content)) {
		name, value, _ := strings.Cut(word, "=")
		words[name] = value
	}
	at, err := time.Parse(time.RFC3339, words["at"])
	if err != nil || words["how"] == "" || words["status"] == "" {
		return nil, fmt.Errorf("%s is not the line a supervisor writes", path)
	}
	ran, _ := time.ParseDuration(words["ran"]) // systemd does not say
	e := NewLastExit(words["result"], words["how"], words["status"], at, ran)
	return &e, nil
}
