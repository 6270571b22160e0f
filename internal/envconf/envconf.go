// Package envconf fills a configuration struct from environment variables.
//
// It guarantees that every mistake is reported at once, each with the way to
// fix it; that an empty variable counts as unset; that NAME_FILE reads the value
// of NAME from a file (for secrets mounted on disk); and that the same struct
// describes itself, so the documentation of settings cannot go stale.
//
// Fields are declared with tags:
//
//	RedisURL secret.Text `env:"REDIS_URL" required:"true" help:"where Redis is"`
//
// Tags: env, default, required, min, max (numbers, durations, bytes, and the
// length of texts and secrets), oneof (comma separated), help. Structs without
// an env tag are entered.
package envconf

import (
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/secret"
)

// Error lists every mistake found in the environment.
type Error struct{ Mistakes []string }

func (e *Error) Error() string {
	return "configuration has " + strconv.Itoa(len(e.Mistakes)) + " mistake(s):\n  - " + strings.Join(e.Mistakes, "\n  - ")
}

// Setting describes one variable for the documentation.
type Setting struct {
	Name, Type, Default, Help string
	Required, Secret          bool
}

// Load fills cfg, a pointer to a struct, from the environment. The error is a
// *Error with all mistakes, never only the first.
func Load(getenv func(string) string, cfg any) error {
	failed := &Error{}
	walk(reflect.ValueOf(cfg).Elem(), func(tag reflect.StructTag, field reflect.Value) {
		if mistake := load(getenv, tag, field); mistake != "" {
			failed.Mistakes = append(failed.Mistakes, mistake)
		}
	})
	if len(failed.Mistakes) > 0 {
		return failed
	}
	return nil
}

// Describe lists the settings of cfg, a pointer to a struct, in order.
func Describe(cfg any) []Setting {
	var settings []Setting
	walk(reflect.ValueOf(cfg).Elem(), func(tag reflect.StructTag, field reflect.Value) {
		settings = append(settings, Setting{
			Name: tag.Get("env"), Type: typeName(field, tag), Default: tag.Get("default"), Help: tag.Get("help"),
			Required: tag.Get("required") == "true", Secret: field.Type() == reflect.TypeFor[secret.Text](),
		})
	})
	return settings
}

func walk(v reflect.Value, visit func(reflect.StructTag, reflect.Value)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		switch {
		case field.Tag.Get("env") != "":
			visit(field.Tag, v.Field(i))
		case v.Field(i).Kind() == reflect.Struct && field.IsExported():
			walk(v.Field(i), visit)
		}
	}
}

func load(getenv func(string) string, tag reflect.StructTag, field reflect.Value) (mistake string) {
	name := tag.Get("env")
	text := getenv(name)
	if path := getenv(name + "_FILE"); path != "" {
		if text != "" {
			return fmt.Sprintf("%s and %s_FILE are both set: keep one", name, name)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Sprintf("%s_FILE cannot be read: %v", name, err)
		}
		text = strings.TrimRight(string(content), "\r\n")
	}
	if text == "" {
		text = tag.Get("default")
	}
	if text == "" {
		if tag.Get("required") == "true" {
			return fmt.Sprintf("%s is not set: %s", name, tag.Get("help"))
		}
		return ""
	}
	if err := set(field, text); err != nil {
		shown := strconv.Quote(text)
		if field.Type() == reflect.TypeFor[secret.Text]() {
			shown = "its value"
		}
		return fmt.Sprintf("%s: %s is not %s", name, shown, typeName(field, tag))
	}
	return checkLimits(name, tag, field)
}

func set(field reflect.Value, text string) error {
	switch target := field.Addr().Interface().(type) {
	case *string:
		*target = text
	case *secret.Text:
		*target = secret.New(text)
	case *bool:
		return parse(target, text, strconv.ParseBool)
	case *int:
		return parse(target, text, strconv.Atoi)
	case *int64:
		return parse(target, text, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	case *float64:
		return parse(target, text, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	case *time.Duration:
		return parse(target, text, time.ParseDuration)
	case *Bytes:
		return parse(target, text, ParseBytes)
	case *[]string:
		*target = splitList(text)
	case *[]netip.Prefix:
		for _, item := range splitList(text) {
			prefix, err := netip.ParsePrefix(item)
			if err != nil {
				return err
			}
			*target = append(*target, prefix.Masked())
		}
	default:
		return fmt.Errorf("type %s is not supported", field.Type())
	}
	return nil
}

func parse[T any](target *T, text string, read func(string) (T, error)) error {
	value, err := read(text)
	if err == nil {
		*target = value
	}
	return err
}

func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func checkLimits(name string, tag reflect.StructTag, field reflect.Value) string {
	if allowed := tag.Get("oneof"); allowed != "" {
		for option := range strings.SplitSeq(allowed, ",") {
			if field.String() == option {
				return ""
			}
		}
		return fmt.Sprintf("%s: %q is not one of %s", name, field.String(), strings.ReplaceAll(allowed, ",", ", "))
	}
	var size float64
	unit := ""
	switch value := field.Interface().(type) {
	case string:
		size, unit = float64(len(value)), " characters"
	case secret.Text:
		size, unit = float64(len(value.Reveal())), " characters"
	case int, int64, time.Duration, Bytes:
		size = float64(field.Int())
	case float64:
		size = value
	default:
		return ""
	}
	if least := tag.Get("min"); least != "" && size < limit(field, least) {
		return fmt.Sprintf("%s is too small: at least %s%s", name, least, unit)
	}
	if most := tag.Get("max"); most != "" && size > limit(field, most) {
		return fmt.Sprintf("%s is too large: at most %s%s", name, most, unit)
	}
	return ""
}

// limit reads a min or max tag in the notation of its field.
func limit(field reflect.Value, text string) float64 {
	switch field.Interface().(type) {
	case time.Duration:
		d, _ := time.ParseDuration(text)
		return float64(d)
	case Bytes:
		b, _ := ParseBytes(text)
		return float64(b)
	}
	f, _ := strconv.ParseFloat(text, 64)
	return f
}

func typeName(field reflect.Value, tag reflect.StructTag) string {
	if allowed := tag.Get("oneof"); allowed != "" {
		return "one of " + strings.ReplaceAll(allowed, ",", ", ")
	}
	switch field.Interface().(type) {
	case secret.Text:
		return "a secret text"
	case bool:
		return "true or false"
	case int, int64:
		return "a whole number"
	case float64:
		return "a number"
	case time.Duration:
		return "a duration such as 500ms, 10s or 5m"
	case Bytes:
		return "a size such as 64KiB or 500MiB"
	case []string:
		return "a comma-separated list"
	case []netip.Prefix:
		return "a comma-separated list of CIDR ranges"
	}
	return "a text"
}
