package secret

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretIsRedactedEverywhere(t *testing.T) {
	t.Parallel()
	hidden := New("hunter2")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", hidden, "in", struct{ S Text }{hidden})
	encoded, _ := json.Marshal(map[string]any{"s": hidden})
	all := fmt.Sprintf("%v %+v %#v %s %q %x", hidden, struct{ S Text }{hidden}, &struct{ S Text }{hidden}, hidden, hidden, hidden) + log.String() + string(encoded)
	if strings.Contains(all, "hunter2") || strings.Contains(all, fmt.Sprintf("%x", "hunter2")) {
		t.Fatalf("leaked: %s", all)
	}
}
