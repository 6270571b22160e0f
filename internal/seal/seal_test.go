package seal

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	newKeyText = "a key of the installation"
	oldKeyText = "the key it had before"
)

func box(t *testing.T, keys ...string) *Box {
	t.Helper()
	b, err := New(keys[0], keys[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealedOpensAgain(t *testing.T) {
	t.Parallel()
	b := box(t, newKeyText)
	for _, text := range []string{"", "x y", "Bearer abc", strings.Repeat("long ", 10_000), "\x00\xff"} {
		sealed := b.Seal(secret.New(text))
		if text != "" && strings.Contains(string(sealed), text) || sealed == b.Seal(secret.New(text)) {
			t.Errorf("%.20q is sealed as %.80q", text, sealed)
		}
		if got, err := b.Open(sealed); err != nil || got.Reveal() != text {
			t.Errorf("%.20q opens as %.20q, %v", text, got.Reveal(), err)
		}
	}
	if got, err := b.Open(""); err != nil || !got.IsZero() {
		t.Error("nothing is not a secret")
	}
}

func TestKeysCanBeChanged(t *testing.T) {
	t.Parallel()
	before, between, after := box(t, oldKeyText), box(t, newKeyText, oldKeyText), box(t, newKeyText)
	sealed := before.Seal(secret.New("x"))
	if got, err := between.Open(sealed); err != nil || got.Reveal() != "x" {
		t.Errorf("with the older key too: %v", err)
	}
	if _, err := after.Open(sealed); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("without the older key: %v", err)
	}
	document := `{"a":"` + string(sealed) + `","b":"` + string(between.Seal(secret.New("y"))) + `","c":"s1.no"}`
	resealed, all, fresh, err := between.Reseal(document)
	if err != nil || all != 2 || fresh != 1 || strings.Contains(resealed, string(sealed)) {
		t.Errorf("%d of %d are sealed anew: %v, %s", fresh, all, err, resealed)
	}
	var read struct{ A, B uptime.Sealed }
	_ = json.Unmarshal([]byte(resealed), &read)
	for want, sealed := range map[string]uptime.Sealed{"x": read.A, "y": read.B} {
		if got, err := after.Open(sealed); err != nil || got.Reveal() != want {
			t.Errorf("sealed anew: %v", err)
		}
	}
	if again, all, fresh, err := after.Reseal(resealed); err != nil || all != 2 || fresh != 0 || again != resealed {
		t.Errorf("once more: %d of %d, %v", fresh, all, err)
	}
	if same, _, fresh, err := after.Reseal(document); !errors.Is(err, ErrUnknownKey) || fresh != 0 || same != document {
		t.Errorf("without the older key: %d, %v, %s", fresh, err, same)
	}
	if _, err := New("short"); err == nil {
		t.Error("a short key is taken")
	}
	if _, err := New(newKeyText, "short"); err == nil {
		t.Error("a short other key is taken")
	}
	if b := box(t, newKeyText, ""); len(b.keys) != 1 {
		t.Error("no other key is one")
	}
}

func TestFingerprintsNeedTheKey(t *testing.T) {
	t.Parallel()
	a, b := box(t, newKeyText, oldKeyText), box(t, oldKeyText)
	if a.Fingerprint("x") != box(t, newKeyText).Fingerprint("x") || a.Fingerprint("x") == a.Fingerprint("y") || a.Fingerprint("x") == b.Fingerprint("x") {
		t.Error("a fingerprint is that of a text and a key")
	}
}

func TestChangedTextDoesNotOpen(t *testing.T) {
	t.Parallel()
	b := box(t, newKeyText)
	sealed := string(b.Seal(secret.New("a secret")))
	for i := range sealed {
		changed := []byte(sealed)
		changed[i] ^= 1
		if _, err := b.Open(uptime.Sealed(changed)); err == nil {
			t.Errorf("opens with byte %d changed", i)
		}
	}
	for _, text := range []string{"s1", "s1.", "s1..", "plain text", sealed[:len(sealed)-4], sealed + "AAAA", strings.Replace(sealed, "s1", "s2", 1)} {
		if _, err := b.Open(uptime.Sealed(text)); err == nil {
			t.Errorf("%.40q opens", text)
		}
	}
}

// FuzzOpen opens nothing but what was sealed, whatever is done to it.
func FuzzOpen(f *testing.F) {
	b, err := New(newKeyText, oldKeyText)
	if err != nil {
		f.Fatal(err)
	}
	old, err := New(oldKeyText)
	if err != nil {
		f.Fatal(err)
	}
	sealed := string(b.Seal(secret.New("x")))
	f.Add(sealed, "a secret")
	f.Add(string(old.Seal(secret.New("x"))), "")
	f.Add(strings.Replace(sealed, "s1", "s2", 1), "\x00")
	f.Add(sealed[:len(sealed)-1], "x")
	f.Add("s1.00.AAAA", "x")
	f.Fuzz(func(t *testing.T, text, clear string) {
		opened, err := b.Open(uptime.Sealed(text))
		switch {
		case err != nil && (!opened.IsZero() || !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnknownKey)):
			t.Fatalf("%q: %v", text, err)
		case err == nil && text != "" && opened.Reveal() != "x":
			t.Fatalf("%q opens, although nobody sealed it", text)
		}
		back, err := b.Open(b.Seal(secret.New(clear)))
		if err != nil || back.Reveal() != clear {
			t.Fatalf("%q comes back as %q: %v", clear, back.Reveal(), err)
		}
	})
}
