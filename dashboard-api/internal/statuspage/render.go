package statuspage

import (
	"encoding/json"
	"encoding/xml"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/internal/pagestore"
)

var ofComponent = regexp.MustCompile(`^components/([1-9][0-9]{0,17})/(badge\.(?:svg|json))$`)

// render is how to answer what is asked of a page, and a name for it; nil: there is no such thing.
func (p *Pages) render(q request) (kind string, render func(*View) rendered) {
	kind = q.rest + " " + q.lang
	if q.rest == "" {
		return kind, p.html(q)
	}
	f := feed{lang: q.lang, base: baseOf(q.page, p.PublicURL)}
	switch q.rest {
	case "feed.atom":
		return kind, xmlOf("application/atom+xml; charset=utf-8", f.atom)
	case "feed.rss":
		return kind, xmlOf("application/rss+xml; charset=utf-8", f.rss)
	case "feed.json":
		return kind, jsonOf("application/feed+json; charset=utf-8", f.json)
	case "calendar.ics":
		return kind, func(v *View) rendered { return rendered{"text/calendar; charset=utf-8", f.calendar(v), nothing} }
	case "state.json":
		return q.rest, jsonOf(mediaJSON, func(v *View) any {
			if q.fixed {
				return fixedState{now(v), v.MadeAt}
			}
			return now(v)
		})
	case "badge.svg":
		return kind, func(v *View) rendered { return badge(q.lang, v.Title, v.State, v.ByHand()) }
	case "badge.json":
		return kind, jsonOf(mediaJSON, func(v *View) any { return shield(q.lang, v.Title, v.State, v.ByHand()) })
	}
	if found := ofComponent.FindStringSubmatch(q.rest); found != nil {
		id, _ := strconv.ParseInt(found[1], 10, 64)
		if !slices.ContainsFunc(q.page.Components(), func(c pagestore.Component) bool { return c.ID == id }) {
			return "", nil
		}
		if found[2] == "badge.svg" {
			return kind, func(v *View) rendered { c := v.component(id); return badge(q.lang, c.Name, c.State, c.Manual) }
		}
		return kind, jsonOf(mediaJSON, func(v *View) any { c := v.component(id); return shield(q.lang, c.Name, c.State, c.Manual) })
	}
	if name, is := strings.CutPrefix(q.rest, documents); is {
		a := atlassian{feed: f}
		if document := a.document(strings.TrimSuffix(name, ".json")); document != nil && strings.HasSuffix(name, ".json") {
			return q.rest, jsonOf(mediaJSON, document)
		}
	}
	return "", nil
}

// component gives one. What it shows may be gone since it was asked for.
func (v *View) component(id int64) ComponentView {
	for _, c := range v.Components() {
		if c.ID == id {
			return c
		}
	}
	return ComponentView{Name: v.Title, State: pagestore.NoData}
}

const (
	mediaSVG  = "image/svg+xml"
	mediaJSON = "application/json; charset=utf-8"
	mediaJS   = "text/javascript; charset=utf-8"
)

func jsonOf(media string, document func(*View) any) func(*View) rendered {
	return func(v *View) rendered {
		body, _ := json.Marshal(document(v)) // plain structs: cannot fail
		return rendered{media, append(body, '\n'), nothing}
	}
}

func xmlOf(media string, document func(*View) any) func(*View) rendered {
	return func(v *View) rendered {
		body, _ := xml.MarshalIndent(document(v), "", " ") // likewise
		return rendered{media, append([]byte(xml.Header), body...), nothing}
	}
}
