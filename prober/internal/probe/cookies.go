package probe

import (
	"net/http"
	"slices"

	"github.com/probefleet/probefleet/internal/uptime"
)

// shownCookies are the names of the cookies that the last answer set, in order. Their
// values are secrets of the target's.
func (s *sighting) shownCookies() []string {
	var names []string
	for _, line := range s.Header["Set-Cookie"] {
		if len(names) == uptime.MaxEvidenceHeaders {
			break
		}
		cookie, err := http.ParseSetCookie(line)
		if err != nil {
			continue
		}
		if name := s.text(cookie.Name, uptime.MaxEvidenceValue); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
