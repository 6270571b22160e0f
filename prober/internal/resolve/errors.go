package resolve

import "errors"

// ErrClosed is what a Trouble wraps after Close.
var ErrClosed = errors.New("the resolver is closed")

// NotFound is the target's failure: a server that works says that the name, or an address
// of the family asked for, does not exist. Also what no name can be like ends so.
type NotFound struct {
	Host   string
	Server string // who said so; "" when nobody was asked
	What   string // one clause for people
}

func (e *NotFound) Error() string { return e.What }

// Broken is the target's failure: servers that work for other names cannot resolve this one.
type Broken struct {
	Host   string
	Server string
	What   string // one clause for people
}

func (e *Broken) Error() string { return e.What }

// Trouble is ours: nothing was learned about the name.
type Trouble struct {
	Host   string
	Server string // the last one asked; "" when none was
	What   string // one clause for people, without addresses
	Silent bool   // it was time that ran out
	cause  error
}

func (e *Trouble) Error() string { return e.What }

// Unwrap gives the end of the caller's context, if that was the end of the look-up.
func (e *Trouble) Unwrap() error { return e.cause }
