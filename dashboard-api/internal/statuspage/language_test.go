package statuspage

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var place = regexp.MustCompile(`\{\d\}`)

// Every catalogue has every word of the English one, with the same values in it.
func TestCatalogues(t *testing.T) {
	t.Parallel()
	want := []string{"ar", "de", "en", "es", "fr", "he", "it", "ja", "nl", "pl", "pt", "zh"}
	if got := Languages(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	english := catalogues()["en"].words
	for _, code := range want {
		content, err := files.ReadFile("locales/" + code + ".json")
		words := map[string]string{}
		if err != nil || json.Unmarshal(content, &words) != nil {
			t.Errorf("%s: %v", code, err)
		}
		for key, text := range english {
			there, wanted := place.FindAllString(words[key], -1), place.FindAllString(text, -1)
			slices.Sort(there)
			slices.Sort(wanted)
			if words[key] == "" || !slices.Equal(there, wanted) {
				t.Errorf("%s: %s is %q", code, key, words[key])
			}
		}
		for key := range maps.Keys(words) {
			head, _, _ := strings.Cut(key, ".")
			if _, known := english[key]; !known && english[head+".other"] == "" {
				t.Errorf("%s: nobody says %s", code, key)
			}
		}
	}
}

func TestPlurals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang string
		n    int
		want string
	}{
		{"en", 1, "1 day"}, {"en", 0, "0 days"}, {"fr", 0, "0 jour"}, {"pl", 1, "1 dzień"}, {"pl", 2, "2 dni"}, {"pl", 5, "5 dni"}, {"ja", 1, "1 日"}, {"ar", 2, "يومان (2)"}, {"ar", 3, "3 أيام"}, {"ar", 90, "90 يومًا"}, {"xx", 2, "2 days"},
	} {
		if got := count(c.lang, "days", c.n); got != c.want {
			t.Errorf("%s %d: %q, want %q", c.lang, c.n, got, c.want)
		}
	}
	if a, b := count("pl", "updated", 2), count("pl", "updated", 5); a == b {
		t.Errorf("%q for two and five", a)
	}
}
