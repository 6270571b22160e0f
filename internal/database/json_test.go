package database_test

import (
	"testing"

	"github.com/probefleet/probefleet/internal/database"
)

// What can be read is there although something else cannot be.
func TestReadJSONTakesInWhatItCan(t *testing.T) {
	t.Parallel()
	type row struct {
		Before, After string
		Number        int
	}
	whole := row{"a", "z", 0}
	for text, want := range map[string]struct {
		row   row
		wrong bool
	}{
		`{"before":"a","number":7,"after":"z"}`:    {row{"a", "z", 7}, false},
		`{"before":"a","later":[{}],"after":"z"}`:  {whole, true},
		`{"before":"a","number":"7","after":"z"}`:  {whole, true},
		`{"before":"a","after":"z"} {"number":7}`:  {whole, true},
		`{"before":"a","number":1e99,"after":"z"}`: {whole, true},
		`{"before":`: {row{}, true},
		``:           {row{}, true},
		`[]`:         {row{}, true},
	} {
		var got row
		if err := database.ReadJSON(text, &got); (err != nil) != want.wrong || got != want.row {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
