package httpapi

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// importLines reads a file: what is wrong with it as a whole, not with one of its lines.
func importLines(q ImportInput) (lines []importLine, found []Mistake) {
	at := "/targets"
	switch {
	case q.Format != nil && *q.Format != transferFormat:
		return nil, []Mistake{{Pointer: "/format", Code: codeInvalidParameter, Message: "this is not an export of targets that can be read here: it would say " + transferFormat}}
	case q.CSV != nil && q.Targets != nil:
		return nil, []Mistake{{Pointer: "/csv", Code: codeInvalidParameter, Message: "send either targets or csv"}}
	case q.CSV != nil:
		at = "/csv"
		if lines, found = tableLines(*q.CSV); len(found) > 0 {
			return nil, found
		}
	default:
		for i, raw := range q.Targets[:min(len(q.Targets), maxImport+1)] {
			lines = append(lines, newImportLine(i+1, raw))
		}
	}
	switch {
	case len(lines) == 0:
		found = append(found, Mistake{Pointer: at, Code: codeRequired, Message: "there is no target in it"})
	case len(lines) > maxImport:
		found = append(found, Mistake{Pointer: at, Code: codeTooLong, Message: fmt.Sprintf("at most %d targets at a time", maxImport)})
	}
	return lines, found
}

// tableLines reads CSV, with commas, semicolons or tabs between its cells.
func tableLines(text string) (lines []importLine, found []Mistake) {
	text = strings.TrimPrefix(text, "\ufeff")
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.FieldsPerRecord, reader.Comment = separator(text), -1, '#'
	wrong := func(code, format string, values ...any) []Mistake {
		return []Mistake{{Pointer: "/csv", Code: code, Message: fmt.Sprintf(format, values...)}}
	}
	head, err := reader.Read()
	if err != nil {
		return nil, wrong(codeRequired, "the first line must name the columns, such as url,name,interval_s,tags,regions")
	}
	for i, name := range head {
		head[i] = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(transferColumns(), head[i]) {
			return nil, wrong(codeUnknownField, "there is no column %q; the first line names columns of: %s", shorten(head[i], 80), strings.Join(transferColumns(), ", "))
		}
		if slices.Contains(head[:i], head[i]) {
			return nil, wrong(codeInvalidParameter, "the column %s is there twice", head[i])
		}
	}
	if !slices.Contains(head, "url") {
		return nil, wrong(codeRequired, "there is no column url")
	}
	for len(lines) <= maxImport {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, wrong(codeInvalidText, "this is not CSV: %v", err)
		}
		number, _ := reader.FieldPos(0)
		if l := tableLine(number, head, cells); l != nil {
			lines = append(lines, *l)
		}
	}
	return lines, nil
}

// separator is that of the first line.
func separator(text string) rune {
	first, _, _ := strings.Cut(text, "\n")
	for _, r := range ";\t" {
		if strings.ContainsRune(first, r) && !strings.ContainsRune(first, ',') {
			return r
		}
	}
	return ','
}

// tableLine makes a target's members of a line's cells; nil: they are all empty.
func tableLine(number int, head, cells []string) *importLine {
	members, empty := map[string]any{}, true
	for i, column := range head {
		cell := ""
		if i < len(cells) {
			cell = asWritten(strings.TrimSpace(cells[i]))
		}
		empty = empty && cell == ""
		switch column {
		case "regions", "tags":
			members[column] = strings.FieldsFunc(cell, func(r rune) bool { return r == ' ' || r == ',' || r == ';' })
		case "parent", "family":
			members[column] = nil
			if cell != "" {
				members[column] = cell
			}
		default:
			if cell != "" {
				members[column] = cellValue(column, cell)
			}
		}
	}
	if empty && len(cells) <= 1 {
		return nil
	}
	raw, _ := json.Marshal(members) // texts, numbers and lists of texts
	l := newImportLine(number, raw)
	if len(cells) > len(head) {
		l.found = append(l.found, Mistake{Code: codeTooLong, Message: fmt.Sprintf("the line has %d cells, the first one %d", len(cells), len(head))})
	}
	return &l
}

// cellValue is what a cell says; what is no number stays a text, which is then a mistake of its field.
func cellValue(column, cell string) any {
	switch column {
	case "interval_s", "timeout_ms":
		if n, err := strconv.ParseInt(cell, 10, 64); err == nil {
			return n
		}
	case "active":
		switch strings.ToLower(cell) {
		case "true", "false":
			return strings.EqualFold(cell, "true")
		}
	}
	return cell
}

var keptHarmless = regexp.MustCompile(`(^|;)'([=+\-@\t\r])`)

// asWritten undoes what harmless does.
func asWritten(cell string) string { return keptHarmless.ReplaceAllString(cell, "$1$2") }
