package envconf

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/secret"
)

type sample struct {
	URL     secret.Text    `env:"URL" required:"true" help:"where it is"`
	Key     secret.Text    `env:"KEY" min:"32"`
	Workers int            `env:"WORKERS" default:"4" min:"1" max:"20"`
	Age     time.Duration  `env:"AGE" default:"1s" max:"1m"`
	Cap     Bytes          `env:"CAP" default:"500MiB"`
	Format  string         `env:"FORMAT" default:"text" oneof:"text,json"`
	Open    []netip.Prefix `env:"OPEN"`
	Names   []string       `env:"NAMES"`
	Inner   struct {
		On bool `env:"ON"`
	}
}

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestLoadFillsEverything(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(strings.Repeat("k", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var cfg sample
	err := Load(env(map[string]string{"URL": "redis://x", "KEY_FILE": file, "AGE": "", "OPEN": "127.0.0.1/8, ::1/128", "NAMES": "a,b", "ON": "true"}), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Key.Reveal() != strings.Repeat("k", 32) || cfg.Workers != 4 || cfg.Age != time.Second || cfg.Cap != 500<<20 ||
		cfg.Format != "text" || len(cfg.Open) != 2 || cfg.Open[0].String() != "127.0.0.0/8" || len(cfg.Names) != 2 || !cfg.Inner.On {
		t.Fatalf("got %+v", cfg)
	}
}

func TestLoadReportsAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	var cfg sample
	err := Load(env(map[string]string{"KEY": "hunter2", "WORKERS": "21", "AGE": "soon", "CAP": "1TB", "FORMAT": "xml", "OPEN": "10.0.0.0"}), &cfg)
	var all *Error
	if !errors.As(err, &all) || len(all.Mistakes) != 7 {
		t.Fatalf("want 7 mistakes, got %v", err)
	}
	for _, want := range []string{"URL is not set: where it is", "KEY is too small: at least 32 characters", "WORKERS is too large", `AGE: "soon" is not a duration`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("the message shows a secret")
	}
}
