// Package assertion judges what users say an answer must be, and evaluates it.
//
// Validate is for whoever saves a target: it names every mistake with the field it
// is in. Compile is for the prober: once per version of a target it makes a Set,
// which is immutable and safe for concurrent use. What Validate lets pass,
// Compile takes. Set.Evaluate looks at one Observation.
//
// Promises:
//   - Nothing a user writes or a server sends makes an evaluation panic, run
//     without bound or hold more memory than a small multiple of the body. The caps
//     are the constants below; patterns are RE2 and have a budget (MaxPatternCost);
//     a JSONPath visits the bytes of a body in place, at a cost that is counted.
//   - An assertion that cannot be decided never passes. A text that was cut at a
//     cap decides what its first part decides: it may be seen to contain something,
//     never to lack it. Whatever else was cut (a hash, JSON, a pattern that looks
//     at the end) is undecided, which counts as failed, with the failure too_large.
//   - Messages are one line of at most MaxMessage bytes, valid UTF-8 without control
//     characters. They hold none of the observation's Secrets, no value of a header
//     or JSON member whose name tells that it is one (authorization, cookies, tokens,
//     keys), and no values from the query of a URL.
//
// What ops mean when there is nothing to look at: exists fails and absent passes.
// The ops that say what must not be (not_equals, not_contains, not_matches, not_in)
// pass for a header, redirect, record or JSON node that is not there; all others fail.
// What the visit as a whole lacks (a certificate, a TLS version, a body that is JSON)
// fails every op.
//
// What ops mean when there are several values: a JSONPath must hold for every node
// it selects, as if duplicates were one. Of DNS records, equals, contains and matches
// ask for one such record, in asks that all are listed, and the not_ ops that none is;
// the names in records are compared in lower case without their final dots.
package assertion

// Caps of what may be asked.
const (
	MaxAssertions  = 20        // of one target
	MaxValue       = 1 << 10   // bytes of a value
	MaxName        = 128       // bytes of a header's name
	MaxPath        = 256       // bytes of a JSONPath
	MaxPatternCost = 128 << 10 // pattern instructions × KiB of text, summed: about 1 s of one core at the worst
	LeastBody      = 256 << 10 // bytes of a body that are read when no assertion looks at it
	MostBody       = 1 << 20   // bytes of a body that are read when one does
	maxDays        = 3650      // of a certificate
	maxSegments    = 16        // of a JSONPath
	maxSelectors   = 32        // in all its segments
	maxTerms       = 16        // comparisons and tests in all its filters
	maxParens      = 8         // of a filter, nested
	maxIndex       = 1_000_000 // of an array, from either end
	maxDepth       = 128       // of nested JSON
	maxWorkBase    = 64 << 10  // steps that one evaluation may spend on JSONPaths,
	maxWorkByte    = 64        // plus so many for each byte of the body
	textKiB        = 1 << 10   // a body, or what was received, for MaxPatternCost
	shortTextKiB   = 64        // headers, URLs and records, for MaxPatternCost
	maxItems       = 64        // of a list in a value
	MaxMessage     = 300       // bytes of a message
	maxShown       = 120       // bytes of an observed value in it
	maxShownWant   = 80        // bytes of a wanted value
	maxShownName   = 48        // bytes of a header's name, JSONPath or record type
)
