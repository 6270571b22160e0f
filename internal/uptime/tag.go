package uptime

import (
	"regexp"
	"slices"
	"strings"
)

// Bounds of tags.
const (
	MaxTags = 20 // of a target
	MaxTag  = 40 // characters of one
)

// TagRule is what a tag is, for people.
const TagRule = "a tag is 1 to 40 of a-z, 0-9 and -_.:/ and begins with a letter or digit"

var tagText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,39}$`)

// ParseTag reads a tag, which has no capitals: those that are written are made small, so that
// tags are equal when their texts are.
func ParseTag(text string) (tag string, ok bool) {
	return strings.ToLower(text), tagText.MatchString(text)
}

// ParseTags reads a list of them into order, each once; bad are the places of those that are none.
func ParseTags(texts []string) (tags []string, bad []int) {
	for i, text := range texts {
		tag, ok := ParseTag(text)
		if !ok {
			bad = append(bad, i)
			continue
		}
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	return slices.Compact(tags), bad
}
