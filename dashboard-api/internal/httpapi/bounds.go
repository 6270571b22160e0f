package httpapi

import (
	"errors"

	"github.com/probefleet/probefleet/internal/resultstore"
)

// asked is the answer to an error of the result store: what the question asks too much of
// is the caller's mistake, anything else an outage.
func asked(err error) error {
	bound, ok := errors.AsType[*resultstore.BoundError](err)
	if !ok {
		return down(clickHouse, err)
	}
	parameter, code := bound.Field, codeInvalidRange
	if parameter == "step" {
		parameter, code = "step_s", codeInvalidParameter
	}
	return mistakes([]Mistake{{Parameter: parameter, Code: code, Message: bound.Problem}})
}
