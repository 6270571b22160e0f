package main

import (
	"testing"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// What the operator's tool retires is in the audit log, as what the API does; what is retired
// already is not retired again.
func TestRetiringARegionIsAudited(t *testing.T) {
	t.Parallel()
	url := testbackend.SQLite(t)
	db := databasetest.Open(t, url)
	if _, err := schedulestore.New(db).AddRegion(t.Context(), "eu"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if code, out, errOut := probefleet("region", "retire", "eu", "--database-url", url); code != 0 {
			t.Fatalf("exit %d\n%s%s", code, out, errOut)
		}
	}
	said, err := accountstore.New(db).AuditLog(t.Context(), accountstore.AuditQuery{Limit: 10})
	if err != nil || len(said) != 1 || said[0].Actor != "cli" || said[0].Action != "region.retired" || said[0].Object != "region:eu" {
		t.Errorf("audit log: %+v, %v", said, err)
	}
}
