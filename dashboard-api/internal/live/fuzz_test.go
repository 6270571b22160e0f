package live

import (
	"strings"
	"testing"
	"time"
)

// FuzzPosition reads positions, which browsers give back: one that is read says the same when it
// is written and read again, and a hub goes on from none that it has not given.
func FuzzPosition(f *testing.F) {
	for _, text := range []string{"", ".", "..", "ABC.1.", "ABC.18446744073709551615.1700000000000-3", "ABC.1.1-2.3", "ABC.-1.", "ABC.1.17592186044415-1048575", "ABC.1.17592186044416-0", "@.1.0-0"} {
		f.Add(text)
	}
	h := New(Options{})
	h.Reading("1700000000000-0")
	f.Fuzz(func(t *testing.T, text string) {
		p := ParsePosition(text)
		if p == nil {
			return
		}
		if again := ParsePosition(p.String()); again == nil || *again != *p || strings.Contains(p.Epoch, ".") {
			t.Fatalf("%q is %+v, and then %+v", text, p, again)
		}
		if at, is := p.Mark.parse(); is {
			if at != 0 {
				if again, is := at.text().parse(); !is || again != at {
					t.Fatalf("%q is %d, and then %d", p.Mark, at, again)
				}
			}
			if at.time().Before(time.UnixMilli(0)) || at.time().Year() > 2600 {
				t.Fatalf("%q is at %v", p.Mark, at.time())
			}
		}
		for _, channel := range []string{"targets", "fleet"} {
			sub, at, recovered, err := h.Subscribe(channel, p)
			if err != nil || recovered && p.Epoch != h.Epoch() && channel == "fleet" || recovered && p.Epoch == h.Epoch() && at.Seq != p.Seq || !recovered && sub.Poll() != nil {
				t.Fatalf("%s from %q: %+v, %v, %v", channel, text, at, recovered, err)
			}
		}
	})
}
