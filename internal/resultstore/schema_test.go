package resultstore

import "testing"

// A table that somebody altered says nothing about the rows: they are kept until it is
// right again, and not given up one by one.
func TestAlteredTableIsNoFaultOfTheRows(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	b := batchOf(up(1, "eu", base()))
	for wrong, right := range map[string]string{
		"MODIFY COLUMN http_status UInt32": "MODIFY COLUMN http_status UInt16",
		"RENAME COLUMN tls_us TO tls":      "RENAME COLUMN tls TO tls_us",
	} {
		if err := s.conn.Exec(t.Context(), "ALTER TABLE results "+wrong); err != nil {
			t.Fatal(err)
		}
		err := s.Insert(t.Context(), b)
		t.Logf("%s: %v", wrong, err)
		if !IsTransient(err) {
			t.Errorf("%s: the row is given up for %v", wrong, err)
		}
		if err := s.conn.Exec(t.Context(), "ALTER TABLE results "+right); err != nil {
			t.Fatal(err)
		}
	}
	insert(t, s, b)
	if got := count(t, s, `SELECT count() FROM results`); got != 1 {
		t.Errorf("%d rows, want 1", got)
	}
}
