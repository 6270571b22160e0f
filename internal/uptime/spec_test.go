package uptime

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// TestSecretsNamesEverySealedField: a field that it forgets is neither kept from other hosts
// nor sealed again when the key changes.
func TestSecretsNamesEverySealedField(t *testing.T) {
	t.Parallel()
	var s Spec
	var want []Sealed
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch {
		case v.Type() == reflect.TypeFor[Sealed]():
			v.SetString(fmt.Sprint("s", len(want)))
			want = append(want, Sealed(v.String()))
		case v.Kind() == reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem())
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0))
			fill(v.Index(1))
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		}
	}
	fill(reflect.ValueOf(&s).Elem())
	got := s.Secrets()
	slices.Sort(got)
	slices.Sort(want)
	if len(want) < 8 || !slices.Equal(got, want) {
		t.Errorf("%v of %v", got, want)
	}
}

func TestUnreadSpecIsPassedOnAsItIs(t *testing.T) {
	t.Parallel()
	for text, readable := range map[SpecText]bool{
		"":                               true,
		`{"family":"6"}`:                 true,
		`{"family":"6","later":{"a":1}}`: false,
		`{"family":"6"}}`:                false,
		`{"family":"6"} {}`:              false,
		`{`:                              false,
	} {
		s := text.Read()
		if s.Text() != text {
			t.Errorf("%q became %q", text, s.Text())
		}
		if _, err := text.Spec(); (err == nil) != readable || (s.Unread == "") != readable {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}
