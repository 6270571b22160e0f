package live

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// filled gives a value whose every field says something.
func filled(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if enum := v.Type().Field(i).Tag.Get("enum"); enum != "" {
				v.Field(i).SetString(enum)
				continue
			}
			filled(t, v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(t, v.Elem())
	case reflect.String:
		v.SetString("some")
	case reflect.Uint64:
		v.SetUint(7)
	default:
		t.Fatalf("a %s in what browsers say: fill it here", v.Type())
	}
}

// What browsers say is read as the type that it is described by, with everything that is in it.
func TestCommandsAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range Commands() {
		want := reflect.New(reflect.TypeOf(c)).Elem()
		filled(t, want)
		text, err := json.Marshal(want.Interface())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadCommand(text); err != nil || !reflect.DeepEqual(got, want.Interface()) {
			t.Errorf("%s is read as %#v, %v", text, got, err)
		}
	}
	if len(commands()) != len(Commands()) {
		t.Errorf("two say the same in t: %v", commands())
	}
	for text, want := range map[string]error{
		"": ErrMalformed, "[]": ErrMalformed, `{"t":1}`: ErrMalformed, `{"t":"sub","ch":7}`: ErrMalformed, `{"t":"sub","from":"x"}`: ErrMalformed,
		`{"t":"sub","id":"` + strings.Repeat("é", MaxID+1) + `"}`: ErrMalformed,
		"null": ErrUnknownMessage{}, `{"t":"SUB","id":"1"}`: ErrUnknownMessage{"SUB", "1"}, `{"t":"auth"}`: ErrUnknownMessage{T: "auth"},
	} {
		if got, err := ReadCommand([]byte(text)); got != nil || !errors.Is(err, want) {
			t.Errorf("%s is read as %#v, %v", text, got, err)
		}
	}
}
