package resultstore

import (
	"errors"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// RowError says why a row can never be stored, however often it is sent.
type RowError struct {
	Problem string
	TooOld  bool // its slot is from before what is kept: nothing is wrong with it but that
}

func (e *RowError) Error() string { return "invalid row: " + e.Problem }

// IsTooOld says that a row was refused because results of its time are not kept any more.
func IsTooOld(err error) bool {
	row, ok := errors.AsType[*RowError](err)
	return ok && row.TooOld
}

// Server codes that judge the data sent, not the server's state. Everything else
// (memory, disk, too many parts, a missing or altered table, a wrong password, an
// unknown code) may be healed by time or by the operator, so the rows must be kept.
var dataCodes = [...]int32{
	6,   // CANNOT_PARSE_TEXT
	27,  // CANNOT_PARSE_INPUT_ASSERTION_FAILED
	38,  // CANNOT_PARSE_DATE
	41,  // CANNOT_PARSE_DATETIME
	69,  // ARGUMENT_OUT_OF_BOUND
	72,  // CANNOT_PARSE_NUMBER
	117, // INCORRECT_DATA
	321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
	349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
	469, // VIOLATED_CONSTRAINT
	691, // UNKNOWN_ELEMENT_OF_ENUM
}

// IsPermanent says that sending the same rows again can never work.
func IsPermanent(err error) bool {
	if _, ok := errors.AsType[*RowError](err); ok {
		return true
	}
	exception, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && slices.Contains(dataCodes[:], exception.Code) // the code only: names are empty over TCP
}

// IsTransient says that the same rows may be stored later: send them again, as a
// new batch with the same token.
func IsTransient(err error) bool { return err != nil && !IsPermanent(err) }
