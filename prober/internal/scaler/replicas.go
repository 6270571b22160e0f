package scaler

import "math"

// recommended is how many probers of this size the region should have, from what this
// one sees:
//
//	live × needed / (0.7 × places), rounded up, at least 1
//
// where live are the region's probers now, needed the places that this one's checks of
// the last minute might take, and places the most it may have. One more than live at
// least when checks wait for more than five seconds and this one has all its workers;
// no more than live while the writer has its veto: more probers are more rows.
func (l Limits) recommended(s State, in Signals, needed float64, live int) (probers int, known bool) {
	if math.IsNaN(in.Lag) || math.IsNaN(in.Writer) || live < 1 {
		return 0, false
	}
	probers = int(math.Ceil(float64(live) * needed / (wellUsed * float64(l.places(l.Max)))))
	if in.Lag > lagUp && s.Workers >= l.Max {
		probers = max(probers, live+1)
	}
	if s.Barred {
		probers = min(probers, live)
	}
	return max(1, probers), true
}
