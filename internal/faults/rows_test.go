package faults

import "slices"

// lanes are the rows that run one after the other in one fleet; they take about
// equally long in `make verify`.
func lanes() [][]row {
	publishers, probers := publisherRows(), proberRows()
	full := slices.IndexFunc(publishers, func(w row) bool { return w.id == "F05" })
	disk := slices.IndexFunc(probers, func(w row) bool { return w.id == "F16" })
	return [][]row{
		slices.Concat(publishers[:full], publishers[full+1:], redisRows()),
		probers[:disk],
		probers[disk:],
		slices.Concat(publishers[full:full+1], clickhouseRows(), chaosRows()),
	}
}

// rows are all that the rig can inject.
func rows() []row { return slices.Concat(lanes()...) }

// brief are the rows of `make test`, one of each kind of fault. A breaker that opens twice
// within a minute stays open until that minute is over: the faults of ClickHouse are far apart.
func brief() []string { return []string{"F41", "F01", "F10", "F11", "F42", "F30", "F23", "F40"} }
