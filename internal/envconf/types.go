package envconf

import (
	"errors"
	"strconv"
	"strings"
)

// Bytes is a size in bytes.
type Bytes int64

// ParseBytes reads "500MiB", "64KiB", "1GiB" or a plain number of bytes.
func ParseBytes(text string) (Bytes, error) {
	units := []struct {
		suffix string
		size   int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}, {"", 1}}
	for _, unit := range units {
		digits, found := strings.CutSuffix(text, unit.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/unit.size {
			break
		}
		return Bytes(n * unit.size), nil
	}
	return 0, errors.New("not a size")
}
