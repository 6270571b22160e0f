package checkstream

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Versions of the entry format: a plain check, and one with a spec. A reader meets
// entries of a newer publisher during an upgrade; it hands them out with Err set.
const (
	versionPlain = "1"
	versionSpec  = "2"
)

// maxField caps what is written and what is read, far above any real check.
const maxField = 64 << 10

const noRegions = "=" // cannot be a region's name

// tooLong stands for a spec that is longer than maxField. It is none that could be read.
const tooLong = `"longer than an entry may be"`

var errNoBody = errors.New("the entry has no check")

// encodeCheck gives the fields c and s of a check. s is its spec, as it is; c is six words and the URL,
// separated by one space: milliseconds within the slot's second, interval in ms,
// spec version, timeout in ms, kind, regions (comma separated), URL. The target and
// the second are in the entry's id.
func encodeCheck(c uptime.Check) (check, spec string, err error) {
	regions := noRegions
	if len(c.Regions) > 0 {
		regions = strings.Join(c.Regions, ",")
	}
	for _, region := range c.Regions {
		if region == "" || strings.ContainsAny(region, " ,=") {
			return "", "", fmt.Errorf("target %d: region %q cannot be written", c.TargetID, region)
		}
	}
	if !isWord(string(c.Kind)) || c.URL == "" || strings.ContainsAny(c.URL, "\r\n") {
		return "", "", fmt.Errorf("target %d: kind or url cannot be written", c.TargetID)
	}
	if c.TargetID <= 0 || c.ScheduledAt.UnixMilli() <= 0 || c.Interval < time.Millisecond || c.Timeout < 0 {
		return "", "", fmt.Errorf("target %d: id, slot, interval or timeout out of range", c.TargetID)
	}
	b := make([]byte, 0, 64+len(regions)+len(c.URL))
	b = append(strconv.AppendInt(b, c.ScheduledAt.UnixMilli()%1000, 10), ' ')
	b = append(strconv.AppendInt(b, c.Interval.Milliseconds(), 10), ' ')
	b = append(strconv.AppendInt(b, c.SpecVersion, 10), ' ')
	b = append(strconv.AppendInt(b, c.Timeout.Milliseconds(), 10), ' ')
	b = append(append(b, c.Kind...), ' ')
	b = append(append(b, regions...), ' ')
	b = append(b, c.URL...)
	if len(b) > maxField {
		return "", "", fmt.Errorf("target %d: the check is larger than %d bytes", c.TargetID, maxField)
	}
	if len(c.Spec) > maxField { // a newer release takes more: probers say of it that it cannot be read
		return string(b), tooLong, nil
	}
	return string(b), string(c.Spec), nil
}

func isWord(s string) bool { return s != "" && !strings.ContainsAny(s, " \r\n") }

// decodeCheck reads an entry's fields back. It accepts any input: what is not a
// check is an error.
func decodeCheck(targetID, second int64, entry fields) (uptime.Check, error) {
	body, spec := entry.text("c"), entry.text("s")
	switch v := entry.text("v"); {
	case v == versionPlain && spec == "", v == versionSpec && spec != "":
	default:
		return uptime.Check{}, fmt.Errorf("entry version %.20q: this program reads versions %s and %s", v, versionPlain, versionSpec)
	}
	if body == "" {
		return uptime.Check{}, errNoBody
	}
	if len(body) > maxField || len(spec) > maxField {
		return uptime.Check{}, fmt.Errorf("entry is larger than %d bytes", maxField)
	}
	var words [6]string
	for i := range words {
		word, rest, ok := strings.Cut(body, " ")
		if !ok || word == "" {
			return uptime.Check{}, fmt.Errorf("entry has %d words, want %d and a url", i, len(words))
		}
		words[i], body = word, rest
	}
	if body == "" || strings.ContainsAny(body, "\r\n") {
		return uptime.Check{}, errors.New("entry has no usable url")
	}
	var numbers [4]int64
	for i := range numbers {
		n, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil || n < 0 {
			return uptime.Check{}, fmt.Errorf("entry word %d: %.20q is not a number", i, words[i])
		}
		numbers[i] = n
	}
	interval, timeout := time.Duration(numbers[1])*time.Millisecond, time.Duration(numbers[3])*time.Millisecond
	if numbers[0] > 999 || numbers[1] == 0 || numbers[1] > uptime.MaxInterval.Milliseconds() || numbers[3] > uptime.MaxTimeout.Milliseconds() {
		return uptime.Check{}, errors.New("entry: slot, interval or timeout out of range")
	}
	c := uptime.Check{
		TargetID:    targetID,
		ScheduledAt: time.UnixMilli(second*1000 + numbers[0]).UTC(),
		Interval:    interval,
		SpecVersion: numbers[2],
		Timeout:     timeout,
		Kind:        uptime.Kind(words[4]),
		URL:         body,
		Spec:        uptime.SpecText(spec),
	}
	if words[5] != noRegions {
		c.Regions = strings.Split(words[5], ",")
		for _, region := range c.Regions {
			if region == "" || strings.Contains(region, "=") {
				return uptime.Check{}, fmt.Errorf("entry: regions %.40q", words[5])
			}
		}
	}
	return c, nil
}

// entryID gives the id of a slot's entry.
func entryID(second, targetID int64) string {
	return strconv.FormatInt(second*1000, 10) + "-" + strconv.FormatInt(targetID, 10)
}

// parseID reads an id back.
func parseID(id string) (second, targetID int64, err error) {
	ms, target, ok := strings.Cut(id, "-")
	milli, err1 := strconv.ParseUint(ms, 10, 63)
	number, err2 := strconv.ParseUint(target, 10, 63)
	if !ok || err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("entry id %.50q: want <ms>-<target id>", id)
	}
	return int64(milli / 1000), int64(number), nil
}
