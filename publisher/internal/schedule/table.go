package schedule

import (
	"cmp"
	"slices"
	"unique"

	"github.com/probefleet/probefleet/internal/uptime"
)

// row is what is known of one target. Field order keeps it small.
type row struct {
	id       int64
	seq      int64 // version in force
	spec     int64 // version of the specification
	url      string
	kind     uptime.Kind
	text     unique.Handle[uptime.SpecText] // most targets share one
	timeout  uint32                         // ms
	interval uint32                         // s
	regions  uint32                         // index in sets
	planned  bool                           // is in its ring
	dead     bool
}

func (r *row) specText() uptime.SpecText {
	if r.text == (unique.Handle[uptime.SpecText]{}) { // nobody has described it yet
		return ""
	}
	return r.text.Value()
}

// table is one array sorted by id: ids rise, so an insert is nearly always an
// append, and a look-up is a binary search. A pointer into it is good until the
// next insert or remove.
type table struct {
	rows []row
	dead int
}

func (t *table) search(id int64) (int, bool) {
	if n := len(t.rows); n == 0 || t.rows[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(t.rows, id, func(r row, id int64) int { return cmp.Compare(r.id, id) })
}

func (t *table) find(id int64) (*row, bool) {
	i, found := t.search(id)
	if !found || t.rows[i].dead {
		return nil, false
	}
	return &t.rows[i], true
}

func (t *table) insert(id int64) *row {
	i, found := t.search(id)
	if found {
		t.dead--
		t.rows[i] = row{id: id}
		return &t.rows[i]
	}
	t.rows = slices.Insert(t.rows, i, row{id: id})
	return &t.rows[i]
}

func (t *table) remove(id int64) {
	i, found := t.search(id)
	if !found || t.rows[i].dead {
		return
	}
	t.rows[i] = row{id: id, dead: true}
	t.dead++
	if t.dead > 1024 && t.dead > len(t.rows)/4 {
		t.rows = slices.DeleteFunc(t.rows, func(r row) bool { return r.dead })
		t.dead = 0
	}
}
