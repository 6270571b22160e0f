package uptime

import "strings"

const (
	// RegionPush is the region of heartbeats' rows: nobody probes from it.
	RegionPush = "push"
	// OutsidePrefix begins the regions of results that external checkers send.
	OutsidePrefix = "ext-"
	// DefaultOutside is the region of such results that name none.
	DefaultOutside = OutsidePrefix + "external"
)

// Outside says whether a region's rows come from external checkers: nobody plans them.
func Outside(region string) bool { return strings.HasPrefix(region, OutsidePrefix) }

// ReservedRegion says whether probers must not be in a region of this name: rows of
// another origin are told by it.
func ReservedRegion(region string) bool { return region == RegionPush || Outside(region) }
