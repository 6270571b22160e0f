package statuspage

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// tick is how a day is drawn: its class and, from its left edge on, a path. States differ by
// shape: full, upper part, lower and wider, middle block, thin line.
func tick(state string) (class, path string) {
	switch state {
	case pagestore.Up:
		return "tu", "4h3v26h-3z"
	case pagestore.Degraded:
		return "tg", "4h3v14h-3z"
	case pagestore.Down:
		return "td", "15h5v19h-5z"
	case pagestore.Maintenance:
		return "tm", "11h4v11h-4z"
	}
	return "tn", "4h1v26h-1z"
}

// offset centres the thin and the wide ones.
func offset(state string) int {
	switch state {
	case pagestore.Down:
		return -1
	case pagestore.NoData:
		return 1
	}
	return 0
}

func states() []string {
	return []string{pagestore.Up, pagestore.Degraded, pagestore.Down, pagestore.Maintenance, pagestore.NoData}
}

// ticks draws the days of a component, a path a state: everything in it is ours.
func ticks(lang string, c ComponentView) template.HTML {
	paths, counts := map[string]*strings.Builder{}, map[string]int{}
	for i, day := range c.Days {
		path := paths[day.State]
		if path == nil {
			path = &strings.Builder{}
			paths[day.State] = path
		}
		counts[day.State]++
		_, shape := tick(day.State)
		path.WriteString("M" + strconv.Itoa(i*5+1+offset(day.State)) + " " + shape)
	}
	var out strings.Builder
	label := say(lang, "summary", len(c.Days), counts[pagestore.Up], counts[pagestore.Degraded], counts[pagestore.Down], counts[pagestore.Maintenance], counts[pagestore.NoData])
	fmt.Fprintf(&out, `<svg class="ticks" viewBox="0 0 %d 34" preserveAspectRatio="none" role="img" aria-label="%s">`, len(c.Days)*5, template.HTMLEscapeString(label))
	for _, state := range states() {
		if path := paths[state]; path != nil {
			class, _ := tick(state)
			fmt.Fprintf(&out, `<path class="%s" d="%s"/>`, class, path)
		}
	}
	out.WriteString("</svg>")
	return template.HTML(out.String())
}

func legend(state string) template.HTML {
	class, path := tick(state)
	return template.HTML(fmt.Sprintf(`<svg viewBox="-1 0 7 34" aria-hidden="true"><path class="%s" d="M%d %s"/></svg>`, class, 1+offset(state), path))
}
