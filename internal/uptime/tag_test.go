package uptime

import (
	"slices"
	"strings"
	"testing"
)

func TestTags(t *testing.T) {
	t.Parallel()
	tags, bad := ParseTags([]string{"Prod", "eu/west.1", "prod", "team:db_2", "a-b", strings.Repeat("x", MaxTag)})
	if want := []string{"a-b", "eu/west.1", "prod", "team:db_2", strings.Repeat("x", MaxTag)}; !slices.Equal(tags, want) || bad != nil {
		t.Errorf("%q %v", tags, bad)
	}
	none := []string{"", " ", "a b", "-a", "/a", "ä", "a,b", "a\n", strings.Repeat("x", MaxTag+1), "<b>", "\xff", "\u212a"} // the last one is a sign whose small letter is k
	if tags, bad := ParseTags(none); tags != nil || len(bad) != len(none) {
		t.Errorf("%q are tags, %v are not", tags, bad)
	}
}
