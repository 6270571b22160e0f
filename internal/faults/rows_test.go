package faults

import "slices"

// lanes are the rows that run one after the other in one fleet; they take about
// equally long in `make test`.
func lanes() [][]row {
	probers := proberRows()
	killed := slices.IndexFunc(probers, func(w row) bool { return w.id == "F16" })
	return [][]row{
		slices.Concat(publisherRows(), redisRows()),
		probers[:killed],
		slices.Concat(probers[killed:], clickhouseRows(), chaosRows()),
	}
}

// rows are all that the rig can inject.
func rows() []row { return slices.Concat(lanes()...) }
