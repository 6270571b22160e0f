package cycle

import (
	"context"
	"regexp"
	"slices"
)

var regionName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// adoptRegions gives every region in which a prober is heard a place in the
// schedule. A retired region comes back only with a prober that was started
// after its retirement: one that was left running does not undo it.
func (l *Loop) adoptRegions(ctx context.Context) {
	v := l.view.Load()
	if !v.Leader || !l.Lease.Held() {
		return
	}
	limited, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	probers, err := l.Upkeep.Probers(limited)
	if err != nil {
		l.Log.Debug("probers cannot be read", "error", err)
		return
	}
	for _, h := range probers {
		if !h.Live() || slices.Contains(v.Regions, h.Region) {
			continue
		}
		if since, retired := v.Retired[h.Region]; retired && h.StartedAt.Unix() <= since {
			continue
		}
		if !regionName.MatchString(h.Region) {
			l.Log.Warn("a prober announces a region with an impossible name", "region", h.Region, "prober", h.Name)
			continue
		}
		database, cancel := context.WithTimeout(ctx, databaseTimeout)
		changed, err := l.Versions.AddRegion(database, h.Region)
		cancel()
		if err != nil {
			l.Log.Warn("region is not adopted yet", "region", h.Region, "error", err)
			return
		}
		if changed {
			l.Log.Info("region joins", "region", h.Region, "prober", h.Name)
			l.feed.wake()
		}
	}
}
