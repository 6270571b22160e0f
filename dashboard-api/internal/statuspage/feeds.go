package statuspage

import (
	"encoding/xml"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// feed writes what happened on a page for programs that follow it.
type feed struct {
	lang string
	base string // URL of the page
}

// item is an entry of every kind of feed.
type item struct {
	id, link, title, html, text string
	begun, changed              time.Time
}

func (f feed) items(v *View) (all []item) {
	for _, e := range v.Events {
		i := item{id: e.ID, link: f.base + "#" + e.ID, title: say(f.lang, e.State) + ": " + titleOf(f.lang, e), begun: e.BegunAt, changed: e.ChangedAt()}
		if e.Kind == pagestore.KindAnnouncement {
			i.title = titleOf(f.lang, e)
		}
		var html, text []string
		for _, u := range e.Updates {
			head := say(f.lang, e.Word(u.State)) + ", " + u.At.In(v.Zone).Format("2006-01-02 15:04 MST")
			html = append(html, "<p><b>"+head+"</b></p>"+string(u.HTML))
			text = append(text, head+": "+u.Text)
		}
		i.html, i.text = strings.Join(html, "\n"), strings.Join(text, "\n")
		all = append(all, i)
	}
	return all
}

// changed is when any of a feed last changed: not when it was made, or each reading would be news.
func changed(all []item) time.Time {
	last := time.Unix(0, 0)
	for _, i := range all {
		if i.changed.After(last) {
			last = i.changed
		}
	}
	return last
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID        string   `xml:"id"`
	Title     string   `xml:"title"`
	Published string   `xml:"published"`
	Updated   string   `xml:"updated"`
	Link      atomLink `xml:"link"`
	Content   atomText `xml:"content"`
}

type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Lang    string      `xml:"xml:lang,attr"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

func (f feed) atom(v *View) any {
	items := f.items(v)
	out := atomFeed{Lang: f.lang, ID: f.base, Title: v.Title, Updated: stamp(changed(items)), Author: v.Title, Links: []atomLink{{"self", f.base + "/feed.atom"}, {"alternate", f.base}}}
	for _, i := range items {
		out.Entries = append(out.Entries, atomEntry{i.link, i.title, stamp(i.begun), stamp(i.changed), atomLink{"", i.link}, atomText{"html", i.html}})
	}
	return out
}

type rssItem struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	GUID        string `xml:"guid"`
	PubDate     string `xml:"pubDate"`
	Description string `xml:"description"`
}

type rssFeed struct {
	XMLName     xml.Name  `xml:"rss"`
	Version     string    `xml:"version,attr"`
	Title       string    `xml:"channel>title"`
	Link        string    `xml:"channel>link"`
	Description string    `xml:"channel>description"`
	Language    string    `xml:"channel>language"`
	Updated     string    `xml:"channel>lastBuildDate"`
	Items       []rssItem `xml:"channel>item"`
}

func (f feed) rss(v *View) any {
	items := f.items(v)
	out := rssFeed{Version: "2.0", Title: v.Title, Link: f.base, Description: v.Description, Language: f.lang, Updated: changed(items).UTC().Format(time.RFC1123Z)}
	for _, i := range items {
		out.Items = append(out.Items, rssItem{i.title, i.link, i.link, i.begun.UTC().Format(time.RFC1123Z), i.html})
	}
	return out
}

type jsonItem struct {
	ID        string `json:"id"`
	URL       string `json:"url"`
	Title     string `json:"title"`
	HTML      string `json:"content_html,omitempty"`
	Text      string `json:"content_text"`
	Published string `json:"date_published"`
	Modified  string `json:"date_modified"`
}

type jsonFeed struct {
	Version     string     `json:"version"`
	Title       string     `json:"title"`
	Description string     `json:"description,omitempty"`
	Home        string     `json:"home_page_url"`
	Feed        string     `json:"feed_url"`
	Language    string     `json:"language"`
	Items       []jsonItem `json:"items"`
}

func (f feed) json(v *View) any {
	out := jsonFeed{Version: "https://jsonfeed.org/version/1.1", Title: v.Title, Description: v.Description, Home: f.base, Feed: f.base + "/feed.json", Language: f.lang, Items: []jsonItem{}}
	for _, i := range f.items(v) {
		out.Items = append(out.Items, jsonItem{i.link, i.link, i.title, i.html, i.text, stamp(i.begun), stamp(i.changed)})
	}
	return out
}

// calendar is the maintenance of a page (RFC 5545).
func (f feed) calendar(v *View) []byte {
	var out strings.Builder
	line := func(name, value string) { out.WriteString(fold(name + ":" + value)) }
	line("BEGIN", "VCALENDAR")
	line("VERSION", "2.0")
	line("PRODID", "-//Probefleet//Status page//EN")
	line("X-WR-CALNAME", escapeText(v.Title))
	for _, w := range v.Windows {
		line("BEGIN", "VEVENT")
		line("UID", w.ID+"@"+v.Slug)
		line("DTSTAMP", icalTime(w.From)) // of what is told, not of the telling: the same until it changes
		line("DTSTART", icalTime(w.From))
		line("DTEND", icalTime(w.To))
		line("SUMMARY", escapeText(w.Name))
		line("DESCRIPTION", escapeText(say(f.lang, "affects", strings.Join(w.Components, ", "))))
		line("URL", f.base+"#"+w.ID)
		line("TRANSP", "TRANSPARENT")
		line("END", "VEVENT")
	}
	line("END", "VCALENDAR")
	return []byte(out.String())
}

func icalTime(at time.Time) string { return at.UTC().Format("20060102T150405Z") }

func escapeText(text string) string {
	return strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r", "", "\n", `\n`).Replace(text)
}

// fold cuts a line into pieces of at most 75 bytes, between characters.
func fold(line string) string {
	var out strings.Builder
	room := 75
	for _, r := range line {
		n := utf8.RuneLen(r)
		if n < 0 {
			continue
		}
		if n > room {
			out.WriteString("\r\n ")
			room = 74
		}
		out.WriteRune(r)
		room -= n
	}
	return out.String() + "\r\n"
}
