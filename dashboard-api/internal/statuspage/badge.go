package statuspage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// colour is that of a state on a badge: white writes on it with a contrast of 4.5 at least.
func colour(state string) string {
	switch state {
	case pagestore.Up:
		return "#17804a"
	case pagestore.Degraded:
		return "#8f5b00"
	case pagestore.Down:
		return "#c4261d"
	case pagestore.Maintenance:
		return "#3b5bcc"
	}
	return "#5d6875"
}

// mark is a state's shape, in a box of 20.
func mark(state string) string {
	switch state {
	case pagestore.Up:
		return `<path d="M5.5 10.4l3 3 6-6.4"/>`
	case pagestore.Degraded:
		return `<path d="M10 4.5v7M10 15v.5"/>`
	case pagestore.Down:
		return `<path d="M6 6l8 8M14 6l-8 8"/>`
	case pagestore.Maintenance:
		return `<path d="M5.5 14.5l5-5M13.8 4.9a3.4 3.4 0 1 0 1.6 1.6l-2.2 2.2-1.8-.3-.3-1.8z"/>`
	}
	return `<path d="M7.6 7.8a2.4 2.4 0 1 1 3.6 2.1c-.8.5-1.2 1-1.2 1.9M10 14.9v.4"/>`
}

const longestBadge = 40 // characters of a name

func escaped(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // a bytes.Buffer does not fail
	return out.String()
}

// stated is the word of a state, and that somebody says so if nothing measures it.
func stated(lang, state string, byHand bool) string {
	if byHand {
		return say(lang, state) + " (" + say(lang, "by_hand") + ")"
	}
	return say(lang, state)
}

// badge says a state in words and by its shape.
func badge(lang, name, state string, byHand bool) rendered {
	if state == "" {
		state = pagestore.NoData
	}
	runes := []rune(name)
	if len(runes) > longestBadge {
		name = string(runes[:longestBadge-1]) + "…"
	}
	word := stated(lang, state, byHand)
	left, right := 14+7*utf8.RuneCountInString(name), 30+7*utf8.RuneCountInString(word)
	body := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s: %[3]s"><title>%[2]s: %[3]s</title>`+
		`<clipPath id="r"><rect width="%[1]d" height="20" rx="4"/></clipPath><g clip-path="url(#r)"><rect width="%[4]d" height="20" fill="#3a444f"/><rect x="%[4]d" width="%[5]d" height="20" fill="%[6]s"/></g>`+
		`<g transform="translate(%[4]d 0)" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">%[7]s</g>`+
		`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="7" y="14" textLength="%[8]d" lengthAdjust="spacingAndGlyphs">%[2]s</text><text x="%[9]d" y="14" textLength="%[10]d" lengthAdjust="spacingAndGlyphs">%[3]s</text></g></svg>`,
		left+right, escaped(name), escaped(word), left, right, colour(state), mark(state), left-14, left+22, right-30)
	return rendered{mediaSVG, []byte(body), nothing}
}

// iconOf is the state alone, for the tab of a browser.
func iconOf(state string) []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><rect width="20" height="20" rx="5" fill="%s"/><g fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round">%s</g></svg>`, colour(state), mark(state))
}

// iconsHash names how the icons look, so that they can be kept for good.
func iconsHash() string {
	sum := sha256.New()
	for _, state := range states() {
		_, _ = sum.Write(iconOf(state)) // a hash does not fail
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

type shieldBody struct {
	SchemaVersion int    `json:"schemaVersion"`
	Label         string `json:"label"`
	Message       string `json:"message"`
	Color         string `json:"color"`
	IsError       bool   `json:"isError,omitempty"`
	CacheSeconds  int    `json:"cacheSeconds"`
}

// shield is what shields.io draws badges from.
func shield(lang, name, state string, byHand bool) any {
	if state == "" {
		state = pagestore.NoData
	}
	return shieldBody{1, name, stated(lang, state, byHand), colour(state), state == pagestore.Down, 60}
}
