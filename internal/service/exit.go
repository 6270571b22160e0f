package service

import "errors"

// Exit codes. A supervisor restarts all but ExitOK and ExitConfig.
const (
	ExitOK         = 0  // drained
	ExitFailure    = 1  // anything without a code of its own
	ExitWatchdog   = 70 // a stage stopped making progress
	ExitGap        = 71 // resumed after a gap longer than the lease
	ExitSpool      = 74 // the spool cannot be written
	ExitDependency = 75 // a dependency was missing at boot
	ExitConfig     = 78 // the configuration is wrong: a restart cannot help
)

type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// Exit gives err an exit code. A nil err stays nil.
func Exit(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

// Code is the exit code of an error: the outermost one given by Exit, else ExitFailure.
func Code(err error) int {
	if err == nil {
		return ExitOK
	}
	var coded *exitError
	if errors.As(err, &coded) {
		return coded.code
	}
	return ExitFailure
}
