package httpapi

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// document is a request body kept as it came, so that decode can report every
// mistake in it at once; the description in OpenAPI is that of T.
type document[T any] struct{ raw []byte }

// Schema describes T.
func (document[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

func (d *document[T]) keep(raw []byte) { d.raw = bytes.Clone(raw) }

// jsonFormat keeps documents raw; answers are plain JSON.
func jsonFormat() huma.Format {
	return huma.Format{
		Marshal: huma.DefaultJSONFormat.Marshal,
		Unmarshal: func(data []byte, v any) error {
			if doc, ok := v.(interface{ keep([]byte) }); ok {
				doc.keep(data)
				return nil
			}
			return json.Unmarshal(data, v)
		},
	}
}

// nulls are the members given as an explicit null, by name.
type nulls map[string]bool

// decode reads the document into T: a struct whose fields are pointers, slices or
// structs with json tags. Names match exactly, members unknown to T are mistakes.
func (d document[T]) decode() (value T, null nulls, found []Mistake) {
	if message := malformed(d.raw); message != "" {
		return value, nil, []Mistake{{Code: codeMalformedJSON, Message: message}}
	}
	null = nulls{}
	found = decodeObject(d.raw, reflect.ValueOf(&value).Elem(), "", null)
	return value, null, found
}

// read decodes a document and judges its content: what was wrong with a member's
// form is not judged again, nor what is in it. It is nil if nothing was wrong.
func read[T any](d document[T], judge func(T, nulls) []Mistake) *Problem {
	value, null, found := d.decode()
	if len(found) == 1 && found[0].Code == codeMalformedJSON {
		return mistakes(found)
	}
	known := reportedOf(found)
	for _, m := range judge(value, null) {
		if !known.has(m.Pointer) {
			known.add(m)
			found = append(found, m)
		}
	}
	return mistakes(found)
}

// reported is what is known to be wrong already, by pointer. There may be as many mistakes as a
// body has room for, so none is compared with all others.
type reported struct {
	is    map[string]bool // it, or something in it
	shape map[string]bool // it is of another type: nothing in it can be judged
}

func reportedOf(found []Mistake) reported {
	r := reported{is: map[string]bool{}, shape: map[string]bool{}}
	for _, m := range found {
		r.add(m)
	}
	return r
}

func (r reported) add(m Mistake) {
	r.is[m.Pointer] = true
	for outer := range enclosing(m.Pointer) {
		r.is[outer] = true
	}
	if m.Code == codeInvalidType {
		r.shape[m.Pointer] = true
	}
}

func (r reported) has(pointer string) bool {
	if r.is[pointer] {
		return true
	}
	for outer := range enclosing(pointer) {
		if r.shape[outer] {
			return true
		}
	}
	return false
}

// enclosing are the pointers to what a value is in, the nearest first.
func enclosing(pointer string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for end := strings.LastIndexByte(pointer, '/'); end >= 0; end = strings.LastIndexByte(pointer, '/') {
			if pointer = pointer[:end]; !yield(pointer) {
				return
			}
		}
	}
}

// malformed says what is wrong with the text as JSON, or "".
func malformed(raw []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	var object map[string]json.RawMessage
	if err := decoder.Decode(&object); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return "the body is not JSON: " + syntax.Error() + " at byte " + strconv.FormatInt(syntax.Offset, 10)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return "the body is not JSON: it ends too soon"
		}
		return "the body must be a JSON object"
	}
	if object == nil {
		return "the body must be a JSON object"
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "the body holds more than one JSON value"
	}
	return ""
}

func decodeObject(raw []byte, into reflect.Value, at string, null nulls) []Mistake {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return []Mistake{{Pointer: at, Code: codeInvalidType, Message: "must be an object"}}
	}
	var found []Mistake
	for i := range into.NumField() {
		name, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		member, given := members[name]
		if !given {
			continue
		}
		delete(members, name)
		if bytes.Equal(bytes.TrimSpace(member), []byte("null")) {
			null[strings.TrimPrefix(at+"/"+name, "/")] = true
			continue
		}
		found = append(found, decodeMember(member, into.Field(i), at+"/"+name, null)...)
	}
	unknown := make([]Mistake, 0, len(members))
	for name := range members {
		unknown = append(unknown, Mistake{Pointer: at + "/" + escapePointer(name), Code: codeUnknownField, Message: "there is no field " + strconv.Quote(shorten(name, 80)) + " here, or it cannot be set"})
	}
	slices.SortFunc(unknown, func(a, b Mistake) int { return strings.Compare(a.Pointer, b.Pointer) })
	return append(found, unknown...)
}

func decodeMember(raw []byte, into reflect.Value, at string, null nulls) []Mistake {
	if into.Kind() == reflect.Pointer {
		value := reflect.New(into.Type().Elem())
		found := decodeMember(raw, value.Elem(), at, null)
		if len(found) == 0 || value.Elem().Kind() == reflect.Struct {
			into.Set(value)
		}
		return found
	}
	if secret, is := into.Addr().Interface().(*secretText); is {
		if secret.UnmarshalJSON(raw) != nil {
			return []Mistake{{Pointer: at, Code: codeInvalidType, Message: "must be a text"}}
		}
		return nil
	}
	if kept, is := into.Addr().Interface().(*json.RawMessage); is { // somebody else's document
		*kept = bytes.Clone(raw)
		return nil
	}
	if _, is := into.Addr().Interface().(encoding.TextUnmarshaler); is {
		if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) || json.Unmarshal(raw, into.Addr().Interface()) != nil {
			return []Mistake{{Pointer: at, Code: codeInvalidType, Message: "must be a text"}}
		}
		return nil
	}
	switch into.Kind() {
	case reflect.Struct:
		return decodeObject(raw, into, at, null)
	case reflect.Slice:
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return []Mistake{{Pointer: at, Code: codeInvalidType, Message: "must be a list"}}
		}
		into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
		var found []Mistake
		for i, item := range items {
			found = append(found, decodeMember(item, into.Index(i), at+"/"+strconv.Itoa(i), null)...)
		}
		return found
	}
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) || json.Unmarshal(raw, into.Addr().Interface()) != nil {
		return []Mistake{{Pointer: at, Code: codeInvalidType, Message: "must be " + kindName(into.Kind())}}
	}
	return nil
}

func kindName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(shorten(name, 80))
}

// shorten caps what we repeat of a request.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// cutLocation splits huma's "query.limit" into the place and the name.
func cutLocation(location string) (place, name string, found bool) {
	return strings.Cut(location, ".")
}
