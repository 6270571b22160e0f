package database

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// ReadJSON takes in what it can of JSON that another release may have written. The error says what
// it could not: a member that into does not have, one of another type, or what is no JSON.
func ReadJSON(text string, into any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, behind := decoder.Token(); behind != io.EOF {
		return errors.New("there is something behind it")
	}
	return nil
}
