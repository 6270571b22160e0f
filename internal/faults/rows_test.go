package faults

import "slices"

// lanes are the rows that run one after the other in one fleet.
func lanes() [][]row {
	return [][]row{slices.Concat(publisherRows(), redisRows()), slices.Concat(proberRows(), clickhouseRows(), chaosRows())}
}

// rows are all that the rig can inject.
func rows() []row { return slices.Concat(lanes()...) }
