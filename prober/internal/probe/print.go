package probe

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	// printAgain is how long a print is good for without being stored again: what is stored is dropped in the end.
	printAgain = 7 * 24 * time.Hour
	// printsUntil is how many prints are stored of a target in that time before what changes is left out, step by step.
	printsUntil = 8
	// printsMost is how many there are at most: one more than what leaves out everything, and some that were lost and made again.
	printsMost = 4 * printsUntil
)

// printSeed makes the hashes of this process.
var printSeed = maphash.MakeSeed() //nolint:gochecknoglobals // never written again

// printed is what a prober remembers of a target's last print: 40 bits of its hash, 16 of the
// week it was stored in, and 8 that count the prints of this week. Zero: none.
type printed struct{ last atomic.Uint64 }

// forget is for a print that was lost: the next visit makes one. It counts as one of the week, else what
// changes all the time could be stored without end.
func (p *printed) forget() { p.last.And(0xffffff) }

// print is what a visit that was up saw, if it differs from what the last one did or was not
// stored for a week; else nil, without an allocation.
func (s *sighting) print(p *plan) *uptime.Print {
	if s.Header == nil && len(s.chain) == 0 {
		return nil
	}
	last := p.printed.last.Load()
	week := s.week(p)
	count := last & 0xff
	if last>>8&0xffff != week {
		count = 0
	}
	if count >= printsMost {
		return nil
	}
	unsteady := uptime.Unsteady(min(count/printsUntil, uint64(uptime.UnsteadyAll)))
	mark := s.steadyHash(unsteady)&^0xffffff | week<<8
	if mark == last&^0xff && count > 0 {
		return nil
	}
	p.printed.last.Store(mark | count + 1)
	return s.shownPrint(unsteady)
}

// week numbers the weeks, which begin at another time for each target, so that not all are stored at once.
func (s *sighting) week(p *plan) uint64 {
	spread := maphash.String(printSeed, p.url) % uint64(printAgain/time.Second)
	return (uint64(max(s.At.Unix(), 0)) + spread) / uint64(printAgain/time.Second) & 0xffff
}

// steadyHash is a hash of what a print has.
func (s *sighting) steadyHash(unsteady uptime.Unsteady) uint64 {
	sum := uint64(unsteady)
	if len(s.chain) > 0 && unsteady < uptime.UnsteadyAll {
		sum = mix(sum, maphash.Bytes(printSeed, s.chain[0].Raw))
	}
	if s.Header == nil {
		return mix(sum, 0)
	}
	if unsteady < uptime.UnsteadyURL {
		sum = mix(sum, maphash.String(printSeed, s.hops[len(s.hops)-1].URL))
	}
	if unsteady < uptime.UnsteadyHeaders {
		for i, name := range uptime.PrintHeaders {
			for _, value := range s.Header[name] {
				value = value[:min(len(value), uptime.MaxEvidenceValue)] // no more is stored
				sum = mix(sum, uint64(i))
				for value != "" {
					var part string
					part, value = uptime.NextSteady(name, value)
					sum = mix(sum, maphash.String(printSeed, part))
				}
			}
		}
	}
	return mix(sum, 0)
}

// mix adds a value to a hash; the order counts.
func mix(sum, value uint64) uint64 {
	sum = (sum ^ value) * 0x9e3779b97f4a7c15
	return sum ^ sum>>29
}

// shownPrint copies what people may see of it.
func (s *sighting) shownPrint(unsteady uptime.Unsteady) *uptime.Print {
	print := &uptime.Print{Unsteady: unsteady}
	if len(s.chain) > 0 && unsteady < uptime.UnsteadyAll {
		certificate := shownCertificate(s.chain[0])
		print.Certificate = &certificate
	}
	if s.Header == nil {
		return print
	}
	if unsteady < uptime.UnsteadyURL {
		print.URL = s.text(s.hops[len(s.hops)-1].URL, maxEvidenceURL)
	}
	if unsteady < uptime.UnsteadyHeaders {
		for _, name := range uptime.PrintHeaders {
			for _, value := range s.Header[name] {
				if len(print.Headers) == uptime.MaxEvidenceHeaders {
					return print
				}
				print.Headers = append(print.Headers, s.shownHeader(name, value))
			}
		}
	}
	return print
}
