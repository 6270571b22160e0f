package probe

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// FuzzSetCookie shows cookies by their names alone.
func FuzzSetCookie(f *testing.F) {
	for _, line := range []string{"sid=" + canary, "a=b; Path=/; HttpOnly", "=x", "a", "\"a\"=b", "a=\x00", strings.Repeat("n", 600) + "=v", canary + "=x", "é=1"} {
		f.Add(line, "b=c")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		var s sighting
		s.Header, s.Secrets = http.Header{"Set-Cookie": {one, two, one}}, []string{canary}
		names := s.shownCookies()
		if len(names) > 2 {
			t.Fatalf("%q", names)
		}
		for i, name := range names {
			if name == "" || len(name) > uptime.MaxEvidenceValue || strings.Contains(name, canary) || strings.ContainsAny(name, "=;\r\n\x00") || slices.Contains(names[:i], name) {
				t.Fatalf("%q", names)
			}
		}
	})
}

// FuzzRetryAfter never gives a time that has passed, and reads back what servers write.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"120", " 5 ", "-1", "+1", "1e3", "99999999999999999999", "Fri, 31 Dec 1999 23:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "0x10", "٣"} {
		f.Add(value, int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, value string, unix int64) {
		now := time.Unix(unix%(1<<36), 0).UTC()
		got := retryAfter(value, now)
		if got < 0 {
			t.Fatalf("%q is %v", value, got)
		}
		if seconds := int64(got / time.Second); got%time.Second == 0 && seconds < 1<<31 {
			if again := retryAfter(" "+strconv.FormatInt(seconds, 10), now); again != got {
				t.Fatalf("%d s are read as %v", seconds, again)
			}
		}
		if at := now.Add(got); got > 0 && got < 100*365*24*time.Hour && at.Year() > 1 && at.Year() <= 9999 && now.Year() > 1 {
			if again := retryAfter(at.Format(http.TimeFormat), now); again != got.Truncate(time.Second) && again != got {
				t.Fatalf("%v is %v, not %v", at, again, got)
			}
		}
	})
}
