package main

import (
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestSecretsAreResealedByTheTool(t *testing.T) {
	url := testbackend.SQLite(t)
	db := databasetest.Open(t, url)
	before, after := strings.Repeat("b", 32), strings.Repeat("a", 32)
	old, err := seal.New(before)
	if err != nil {
		t.Fatal(err)
	}
	channel, err := incidentstore.New(db, nil).CreateChannel(t.Context(), incidentstore.Channel{Name: "chat", Kind: "webhook", Config: old.Seal(secret.New("{}"))}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	reseal := func(want int, says string, more ...string) {
		t.Helper()
		code, out, errOut := probefleet(append([]string{"secrets", "reseal", "--database-url", url, "--dir", t.TempDir()}, more...)...)
		if code != want || !strings.Contains(out+errOut, says) {
			t.Errorf("exit %d, not %d, or nothing says %q\n%s%s", code, want, says, out, errOut)
		}
	}
	t.Setenv("SECRET_KEY", "")
	reseal(service.ExitConfig, "set SECRET_KEY")
	t.Setenv("SECRET_KEY", after)
	t.Setenv("SECRET_KEY_OTHER", "short")
	reseal(service.ExitConfig, "SECRET_KEY_OTHER")
	t.Setenv("SECRET_KEY_OTHER", "")
	reseal(service.ExitFailure, "1 do not open")
	t.Setenv("SECRET_KEY_OTHER", before)
	reseal(0, "1 would be sealed", "--dry-run")
	const again = "CREATE TRIGGER again AFTER UPDATE ON channels BEGIN UPDATE channels SET config = OLD.config WHERE id = NEW.id; END"
	if err := db.Write().Exec(again).Error; err != nil {
		t.Fatal(err)
	}
	reseal(service.ExitFailure, "1 were sealed with another key meanwhile")
	if err := db.Write().Exec("DROP TRIGGER again").Error; err != nil {
		t.Fatal(err)
	}
	reseal(0, "All are sealed with SECRET_KEY")
	reseal(0, "All are sealed with SECRET_KEY")

	last, err := seal.New(after)
	if err != nil {
		t.Fatal(err)
	}
	channel, err = incidentstore.New(db, nil).Channel(t.Context(), channel.ID)
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := last.Open(channel.Config); err != nil || opened.Reveal() != "{}" {
		t.Errorf("%v", err)
	}
	said, err := accountstore.New(db).AuditLog(t.Context(), accountstore.AuditQuery{Limit: 10})
	if err != nil || len(said) != 2 || said[0].Actor != "cli" || said[0].Action != "secrets.resealed" || said[0].Detail != "1 of 1" {
		t.Errorf("audit log: %+v, %v", said, err)
	}
}
