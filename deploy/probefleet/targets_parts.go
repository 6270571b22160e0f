package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// What the API takes at once.
const (
	importTargets = 10_000
	importBytes   = 8<<20 - 4<<10 // and the rest of the body
)

// fileTarget is a target of a file, and where it stands in it, from 1.
type fileTarget struct {
	line         int
	raw          json.RawMessage
	url, name    string
	parent       string
	depth        int // below targets of the same file
	depthVisited bool
}

// importDocument is a file, as an export has written it or as somebody wrote one like it.
type importDocument struct {
	Format     *string           `json:"format"`
	ExportedAt *string           `json:"exported_at"`
	Secrets    *string           `json:"secrets"`
	Targets    []json.RawMessage `json:"targets"`
	Count      *int              `json:"count"`
}

// readTargets reads a file of JSON.
func readTargets(text []byte) ([]*fileTarget, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var document importDocument
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("this is not an export of targets, or a part of one: %w", cutOff(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more in the file than one export")
	}
	switch {
	case document.Format != nil && *document.Format != targetsFormat:
		return nil, fmt.Errorf("this is no export that can be read here: it would say %s, and says %q", targetsFormat, *document.Format)
	case len(document.Targets) == 0:
		return nil, errors.New("there is no target in it")
	case document.Count != nil && *document.Count != len(document.Targets):
		return nil, fmt.Errorf("it says that it has %d targets, and has %d: give the right count, or none", *document.Count, len(document.Targets))
	}
	targets := make([]*fileTarget, len(document.Targets))
	for i, raw := range document.Targets {
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			return nil, err
		}
		t := &fileTarget{line: i + 1, raw: compact.Bytes()}
		var said map[string]json.RawMessage
		_ = json.Unmarshal(raw, &said) // what is no target the API refuses, with the reason
		for name, into := range map[string]*string{"url": &t.url, "name": &t.name, "parent": &t.parent} {
			_ = json.Unmarshal(said[name], into)
		}
		t.url = alike(t.url)
		if t.name = strings.TrimSpace(t.name); t.name == "" {
			t.name = t.url // about what it will be called
		}
		targets[i] = t
	}
	return targets, nil
}

var asWrittenElsewhere = regexp.MustCompile(`^[a-z]+://|:(80|443)(/|$)`)

// alike is the same for addresses that may be one. Others may share it, too.
func alike(url string) string {
	return strings.TrimRight(asWrittenElsewhere.ReplaceAllString(strings.ToLower(strings.TrimSpace(url)), "$2"), "/")
}

// parts divides targets into those that the API takes at once. It finds targets by their URL within
// one import, and parents by their name: so what shares a URL or a name stays together, and so do
// families, unless they are larger than a part. Then parents come first; whole is false.
func parts(targets []*fileTarget, most, mostBytes int) (divided [][]*fileTarget, whole bool, err error) {
	if fit(targets, most, mostBytes) {
		return [][]*fileTarget{targets}, true, nil
	}
	deepen(targets)
	whole = true
	var pieces [][]*fileTarget
	for _, family := range groups(targets, func(t *fileTarget) []string {
		keys := []string{"url " + t.url, "name " + t.name}
		if t.parent != "" {
			keys = append(keys, "name "+t.parent)
		}
		return keys
	}) {
		if fit(family, most, mostBytes) {
			pieces = append(pieces, family)
			continue
		}
		whole = false
		same := groups(family, func(t *fileTarget) []string { return []string{"url " + t.url, "name " + t.name} })
		slices.SortStableFunc(same, func(a, b []*fileTarget) int { return deepest(a) - deepest(b) })
		pieces = append(pieces, same...)
	}
	var part []*fileTarget
	room := mostBytes
	for _, piece := range pieces {
		if !fit(piece, most, mostBytes) {
			return nil, false, fmt.Errorf("%s from line %d on share a URL or a name, or are too large: the API takes %d targets and %d MiB at once", countTargets(len(piece)), piece[0].line, most, mostBytes>>20+1)
		}
		if len(part)+len(piece) > most || size(piece) > room {
			divided, part, room = append(divided, part), nil, mostBytes
		}
		part, room = append(part, piece...), room-size(piece)
	}
	divided = append(divided, part)
	for _, part := range divided {
		slices.SortFunc(part, func(a, b *fileTarget) int { return a.line - b.line })
	}
	return divided, whole, nil
}

func fit(targets []*fileTarget, most, mostBytes int) bool {
	return len(targets) <= most && size(targets) <= mostBytes
}

func size(targets []*fileTarget) (bytes int) {
	for _, t := range targets {
		bytes += len(t.raw) + 1
	}
	return bytes
}

// groups puts together what has a key in common, directly or by way of others, in order.
func groups(targets []*fileTarget, keys func(*fileTarget) []string) [][]*fileTarget {
	leader := map[string]string{}
	find := func(key string) string {
		for {
			up, there := leader[key]
			if !there || up == key {
				return key
			}
			if further, there := leader[up]; there {
				leader[key] = further // the way is shorter the next time
			}
			key = up
		}
	}
	for _, t := range targets {
		all := keys(t)
		for _, key := range all[1:] {
			if from, to := find(key), find(all[0]); from != to {
				leader[from] = to
			}
		}
	}
	place := map[string]int{}
	var found [][]*fileTarget
	for _, t := range targets {
		group := find(keys(t)[0])
		i, there := place[group]
		if !there {
			i, found = len(found), append(found, nil)
			place[group] = i
		}
		found[i] = append(found[i], t)
	}
	return found
}

// deepen counts how many parents in the file each target has above it.
func deepen(targets []*fileTarget) {
	byName := map[string]*fileTarget{}
	for _, t := range targets {
		byName[t.name] = t
	}
	var of func(*fileTarget) int
	of = func(t *fileTarget) int {
		if parent := byName[t.parent]; parent != nil && t.parent != "" && !t.depthVisited {
			t.depthVisited = true // a ring is refused by the API
			t.depth = of(parent) + 1
		}
		return t.depth
	}
	for _, t := range targets {
		of(t)
	}
}

func deepest(group []*fileTarget) int {
	depth := 0
	for _, t := range group {
		depth = max(depth, t.depth)
	}
	return depth
}
