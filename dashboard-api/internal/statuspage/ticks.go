package statuspage

import (
	"fmt"
	"html/template"
	"slices"
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

// ticks draws the days of a component, a path a state, and over them places that say to a pointer which
// days they are: everything in it is ours.
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
	for _, one := range stretches(c.Days) { // each is as wide as all: the next one lies over it
		fmt.Fprintf(&out, `<rect x="%d"><title>%s</title></rect>`, one.at*5, template.HTMLEscapeString(one.words(lang)))
	}
	out.WriteString("</svg>")
	return template.HTML(out.String())
}

// stretch is a day, or several in a row of which there is the same to say.
type stretch struct {
	Day
	To string // the last one of several; "" of one
	at int
}

// stretches are those of days. Days that were well are one, and so are days without data: a new target
// has many, and a title each of fifty components would double what is sent.
func stretches(days []Day) (all []stretch) {
	for i, d := range days {
		if same := d.State == pagestore.Up || d.State == pagestore.NoData; same && i > 0 && d.State == days[i-1].State && d.Uptime == days[i-1].Uptime {
			all[len(all)-1].To = d.Name
			continue
		}
		all = append(all, stretch{Day: d, at: i})
	}
	return all
}

// odd are the days that were different.
func odd(days []Day) []stretch {
	return slices.DeleteFunc(stretches(days), func(one stretch) bool { return one.State == pagestore.Up })
}

// words say which days they are and what they came to.
func (s stretch) words(lang string) string {
	words := apart(lang, s.Name)
	if s.To != "" {
		words = say(lang, "from_to", words, apart(lang, s.To))
	}
	words += " · " + say(lang, s.State)
	if s.Uptime != "" {
		words += " · " + say(lang, "uptime", s.Uptime)
	}
	return words
}

func legend(state string) template.HTML {
	class, path := tick(state)
	return template.HTML(fmt.Sprintf(`<svg viewBox="-1 0 7 34" aria-hidden="true"><path class="%s" d="M%d %s"/></svg>`, class, 1+offset(state), path))
}
