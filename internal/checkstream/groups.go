package checkstream

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// ensureGroup creates a region's group from the beginning of the stream, so that
// nothing already published is skipped.
func (r *Redis) ensureGroup(ctx context.Context, region string) error {
	err := r.commands.XGroupCreateMkStream(ctx, keyChecks, region, "0").Err()
	if err != nil && !busyGroup(err) {
		return fmt.Errorf("create group %s: %w", region, err)
	}
	return nil
}

// busyGroup says that the group is there already.
func busyGroup(err error) bool { return strings.HasPrefix(err.Error(), "BUSYGROUP") }

// EnsureGroups creates the groups that are not there: before the first check, so
// that Trim waits for every region.
func (p *Publisher) EnsureGroups(ctx context.Context, regions []string) error {
	for _, region := range regions {
		if err := p.r.ensureGroup(ctx, region); err != nil {
			return err
		}
	}
	return nil
}

// DestroyGroup ends a region: its unsettled entries are settled with it.
func (p *Publisher) DestroyGroup(ctx context.Context, region string) error {
	err := p.r.commands.XGroupDestroy(ctx, keyChecks, region).Err()
	if err != nil && !strings.Contains(err.Error(), "requires the key to exist") {
		return fmt.Errorf("destroy group %s: %w", region, err)
	}
	return nil
}

// TrimReport is what one Trim did.
type TrimReport struct {
	Floor           string // nothing at or above this id was removed; "" without groups
	Removed, Length int64
	OldestUnsettled time.Time // slot second of the first entry some region has not settled; zero: none
}

// Trim removes what every group has settled, and nothing without groups.
func (p *Publisher) Trim(ctx context.Context) (TrimReport, error) {
	reply, err := p.r.scripts.trim.Run(ctx, p.r.commands, []string{keyChecks}).Slice()
	if err != nil {
		return TrimReport{}, fmt.Errorf("trim checks: %w", err)
	}
	if len(reply) != 4 {
		return TrimReport{}, fmt.Errorf("trim checks: unexpected reply of %d parts", len(reply))
	}
	var report TrimReport
	report.Floor, _ = reply[0].(string)
	report.Removed, _ = reply[1].(int64)
	report.Length, _ = reply[2].(int64)
	if id, _ := reply[3].(string); id != "" {
		second, _, err := parseID(id)
		if err != nil {
			return report, fmt.Errorf("trim checks: %w", err)
		}
		report.OldestUnsettled = time.Unix(second, 0).UTC()
	}
	return report, nil
}
