package main

import (
	"fmt"
	"io"
	"time"
)

const (
	progressRows  = 10_000 // between two looks
	progressShare = 5      // percent between two lines
)

// exportProgress says how far an export is: a line each few percent of its window.
type exportProgress struct {
	out      io.Writer
	from, to time.Time // zero from: the first row's time
	looked   int64     // rows at the last look
	said     int
}

// look says something if there is something to say.
func (p *exportProgress) look(f *exportFile) error {
	if p.from.IsZero() {
		if err := f.locate(); err != nil {
			return err
		}
		p.from = f.last.at
	}
	if f.rows-p.looked < progressRows {
		return nil
	}
	p.looked = f.rows
	if err := f.locate(); err != nil {
		return err
	}
	percent := 0
	if window := p.to.Sub(p.from); window > 0 {
		percent = min(int(100*f.last.at.Sub(p.from).Seconds()/window.Seconds()), 100) // a hundred times some years is more than a Duration holds
	}
	if percent >= p.said+progressShare {
		p.said = percent
		p.say("%3d%%  up to %s  %d rows  %s", percent, f.last.at.UTC().Format(time.RFC3339), f.rows, megabytes(f.bytes))
	}
	return nil
}

func (p *exportProgress) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, format+"\n", args...)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
