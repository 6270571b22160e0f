package live

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxID is how long an id may be that comes back in an answer, in characters.
const MaxID = 64

// Commands are the messages of browsers, one of each. Whoever reads them reads these types and no others,
// and the documents are made of the same.
func Commands() []any { return []any{Hello{}, Sub{}, Unsub{}, Pong{}} }

// commands are their types by what they say in t, which the types say themselves.
var commands = sync.OnceValue(func() map[string]reflect.Type { //nolint:gochecknoglobals // constants in all but name: types
	all := map[string]reflect.Type{}
	for _, c := range Commands() {
		t := reflect.TypeOf(c)
		field, _ := t.FieldByName("T") // each has one: a test reads every type
		all[field.Tag.Get("enum")] = t
	}
	return all
})

// ErrMalformed says that a text is no message.
var ErrMalformed = fmt.Errorf("messages are JSON objects in text frames, their ids of %d characters at most", MaxID)

// ErrUnknownMessage says that there is no such message.
type ErrUnknownMessage struct{ T, ID string }

func (e ErrUnknownMessage) Error() string {
	return fmt.Sprintf("there is no message %q", strings.ToValidUTF8(e.T, "?"))
}

// ReadCommand reads a message of a browser: as one of the types of Commands.
func ReadCommand(text []byte) (any, error) {
	var head struct{ T, ID string }
	if json.Unmarshal(text, &head) != nil || utf8.RuneCountInString(head.ID) > MaxID {
		return nil, ErrMalformed
	}
	t, known := commands()[head.T]
	if !known {
		return nil, ErrUnknownMessage{head.T, head.ID}
	}
	c := reflect.New(t)
	if json.Unmarshal(text, c.Interface()) != nil {
		return nil, ErrMalformed
	}
	return c.Elem().Interface(), nil
}
