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

// ticks draws the days of a component, a path a state, and over those that were different places that
// say to a pointer which days they are: everything in it is ours.
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
	for _, one := range odd(c.Days) {
		fmt.Fprintf(&out, `<rect x="%d" width="%d"><title>%s</title></rect>`, one.at*5, one.days*5, template.HTMLEscapeString(one.words(lang)))
	}
	out.WriteString("</svg>")
	return template.HTML(out.String())
}

// stretch is a day that was different, or several in a row without data, of which there is the same to say.
type stretch struct {
	Day
	To   string // the last one of several; "" of one
	at   int    // where it begins
	days int
}

// odd are the days that were different. Days without data are one, unless some of the targets were
// down: a new target has many.
func odd(days []Day) (all []stretch) {
	for i, d := range days {
		switch {
		case d.State == pagestore.Up:
		case d.State == pagestore.NoData && i > 0 && days[i-1].State == d.State && d.DownMinutes+days[i-1].DownMinutes == 0:
			last := &all[len(all)-1]
			last.To, last.days = d.Name, last.days+1
		default:
			all = append(all, stretch{Day: d, at: i, days: 1})
		}
	}
	return all
}

// words say which days they are and what they came to. How much that was is in the table: a title with
// all of it for each day of fifty components would be as much as all the rest that is sent.
func (s stretch) words(lang string) string {
	words := apart(lang, s.Name)
	if s.To != "" {
		words = say(lang, "from_to", words, apart(lang, s.To))
	}
	return words + " · " + say(lang, s.State)
}

func legend(state string) template.HTML {
	class, path := tick(state)
	return template.HTML(fmt.Sprintf(`<svg viewBox="-1 0 7 34" aria-hidden="true"><path class="%s" d="M%d %s"/></svg>`, class, 1+offset(state), path))
}
