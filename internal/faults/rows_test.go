package faults

import "slices"

// lanes are the rows that run one after the other in one fleet; they take about
// equally long in `make test`.
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
