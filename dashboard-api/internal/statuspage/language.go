package statuspage

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// catalogue is the words of one language.
type catalogue struct {
	tag   language.Tag
	words map[string]string
}

// catalogues are all, from their files. A word that one lacks is that of English.
var catalogues = sync.OnceValue(func() map[string]catalogue { //nolint:gochecknoglobals // constants in all but name: embedded files, read once
	all := map[string]catalogue{}
	entries, err := files.ReadDir("locales")
	if err != nil {
		return all
	}
	for _, entry := range entries {
		code := strings.TrimSuffix(entry.Name(), ".json")
		content, err := files.ReadFile("locales/" + entry.Name())
		words := map[string]string{}
		if err != nil || json.Unmarshal(content, &words) != nil {
			continue // a test reads every file
		}
		all[code] = catalogue{language.Make(code), words}
	}
	return all
})

// Languages are those that pages speak, by their codes.
func Languages() []string { return slices.Sorted(maps.Keys(catalogues())) }

// direction is how a language is written.
func direction(lang string) string {
	if lang == "ar" || lang == "he" {
		return "rtl"
	}
	return "ltr"
}

// apart keeps numbers of an instant in their order where the words around run from right to left.
func apart(lang, text string) string {
	if direction(lang) == "ltr" {
		return text
	}
	return "\u2066" + text + "\u2069"
}

// languageOf is what somebody asks for, or another. A page speaks its own language to those whose
// browser asks for none of ours.
func languageOf(r *http.Request, other string) string {
	all := catalogues()
	if asked := r.URL.Query().Get("lang"); all[asked].words != nil {
		return asked
	}
	if wanted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language")); err == nil {
		for _, tag := range wanted {
			base, _ := tag.Base()
			if all[base.String()].words != nil {
				return base.String()
			}
		}
	}
	return other
}

// say gives a word, with values in the places of its {0}, {1}.
func say(lang, key string, values ...any) string {
	text, found := catalogues()[lang].words[key]
	if !found {
		text = catalogues()["en"].words[key]
	}
	for i, value := range values {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), fmt.Sprint(value))
	}
	return text
}

// count gives a word in the form that goes with a number, which is {0}.
func count(lang, key string, n int) string {
	c := catalogues()[lang]
	form := map[plural.Form]string{plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many"}[plural.Cardinal.MatchPlural(c.tag, n, 0, 0, 0, 0)]
	if _, found := c.words[key+"."+form]; !found {
		form = "other"
	}
	return say(lang, key+"."+form, n)
}
