package rollupstore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/rollupstore"
)

func TestAside(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := rollupstore.New(db)
		hour := rollupstore.Bucket{From: noon.Truncate(time.Hour), To: noon.Truncate(time.Hour).Add(time.Hour)}
		day := rollupstore.Bucket{From: noon.Truncate(24 * time.Hour), To: noon.Truncate(24 * time.Hour).Add(24 * time.Hour)}
		for _, aside := range [][]rollupstore.Bucket{{}, {hour}, {day, hour}, {day}, {}} {
			must(t, s.SetAside(t.Context(), aside))
			got, err := s.Aside(t.Context())
			must(t, err)
			if diff := cmp.Diff(aside, got); diff != "" {
				t.Error(diff)
			}
		}
	})
}
