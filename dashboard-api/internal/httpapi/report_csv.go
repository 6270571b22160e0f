package httpapi

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/internal/availability"
)

func reportColumns() []string {
	return []string{
		"month", "zone", "target_id", "name", "region", "uptime_percent", "low_percent", "high_percent", "coverage_percent", "checks",
		"up", "degraded", "down", "unknown", "missed", "excluded", "downtime_minutes", "incidents", "revised_at", "complete",
	}
}

// reportCSV writes a report as lines of one target and region each. Region "" is the
// target as a whole, and comes first.
func reportCSV(r reportBody) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out) // a buffer takes everything: no error can come
	_ = w.Write(reportColumns())
	for _, target := range r.Targets {
		_ = w.Write(reportLine(r, target, "", target.Folded, strconv.Itoa(len(target.Incidents))))
		for _, region := range target.Regions {
			_ = w.Write(reportLine(r, target, region.Region, region.Figures, ""))
		}
	}
	w.Flush()
	return out.Bytes()
}

func reportLine(r reportBody, target targetReportBody, region string, f Figures, incidents string) []string {
	counts := availability.Counts{Up: f.Up, Degraded: f.Degraded, Down: f.Down, Unknown: f.Unknown, Missed: f.Missed}
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	revised := ""
	if f.RevisedAt.value != nil {
		text, _ := f.RevisedAt.value.MarshalJSON() // cannot fail
		revised = strings.Trim(string(text), `"`)
	}
	return []string{
		r.Month, r.Zone, strconv.FormatInt(target.TargetID, 10), harmless(target.Name), harmless(region),
		counts.Uptime().Percent(percentDigits), counts.Low().Percent(percentDigits), counts.High().Percent(percentDigits), counts.Coverage().Percent(percentDigits), number(f.Checks),
		number(f.Up), number(f.Degraded), number(f.Down), number(f.Unknown), number(f.Missed), number(f.Excluded),
		strconv.FormatFloat(f.DowntimeMinutes, 'f', -1, 64), incidents, revised, strconv.FormatBool(r.Complete),
	}
}

// formula is what a spreadsheet takes for the beginning of one, at the beginning of a cell.
// Where commas are decimal points semicolons divide cells.
var formula = regexp.MustCompile(`(^|;)([=+\-@\t\r])`)

// harmless keeps a spreadsheet from taking a text for a formula.
func harmless(text string) string { return formula.ReplaceAllString(text, "$1'$2") }
