package availability

import (
	"fmt"
	"math/bits"
	"strconv"
)

// Ratio is a part of a whole, Num ≤ Den. With Den 0 it says nothing.
type Ratio struct{ Num, Den uint64 }

// Known says whether there is a whole.
func (r Ratio) Known() bool { return r.Den > 0 }

// Float is the ratio as it is, 0 to 1: it is 1 only if nothing is missing (of a
// whole below 2^53). 0 when it is not known.
func (r Ratio) Float() float64 {
	if !r.Known() {
		return 0
	}
	return float64(r.Num) / float64(r.Den)
}

// maxDigits keeps the scale within 64 bits.
const maxDigits = 9

// Percent writes the ratio in percent with digits decimals (at most 9), rounded
// down: 100 only if nothing is missing, and a target such as 99.95 only if it was
// reached. What is above 0 but below the last decimal is "<0.01", never 0. Empty
// when it is not known.
func (r Ratio) Percent(digits int) string {
	if !r.Known() {
		return ""
	}
	digits = min(max(digits, 0), maxDigits)
	scale := uint64(1)
	for range digits {
		scale *= 10
	}
	hi, lo := bits.Mul64(min(r.Num, r.Den), 100*scale)
	shown, _ := bits.Div64(hi, lo, r.Den)
	if shown == 0 && r.Num > 0 {
		return "<" + decimal(1, scale, digits)
	}
	return decimal(shown, scale, digits)
}

func decimal(n, scale uint64, digits int) string {
	if digits == 0 {
		return strconv.FormatUint(n, 10)
	}
	return fmt.Sprintf("%d.%0*d", n/scale, digits, n%scale)
}
