package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/schedulestore"
)

// Regions are the places in the schedule.
type Regions interface {
	RegionVersions(ctx context.Context, afterSeq int64) ([]schedulestore.RegionVersion, error)
	RetireRegion(ctx context.Context, region string) (changed bool, err error)
}

// Probers are those that were heard.
type Probers interface {
	Probers(ctx context.Context) ([]checkstream.Heartbeat, error)
	ForgetProber(ctx context.Context, region, name string) error
}

// States of a region.
const (
	regionJoining = "joining"
	regionActive  = "active"
	regionLeaving = "leaving"
	regionRetired = "retired"
)

type regionBody struct {
	Region string            `json:"region"`
	State  string            `json:"state" enum:"joining,active,leaving,retired" doc:"joining and leaving wait for the publisher's next tick; of a retired region nothing is planned any more, and its history stays"`
	Since  nullable[instant] `json:"since" doc:"null while it is joining or leaving"`
}

// RegionPath names a region in a path. (Huma passes over embedded types that are not exported.)
type RegionPath struct {
	Region string `path:"region" maxLength:"32"`
}

// knownRegions gives every region there ever was, as its newest version has it, by name.
func (a *api) knownRegions(ctx context.Context) ([]regionBody, error) {
	versions, err := a.Regions.RegionVersions(ctx, 0)
	if err != nil {
		return nil, err
	}
	newest := map[string]schedulestore.RegionVersion{}
	for _, v := range versions { // ascending
		newest[v.Region] = v
	}
	all := []regionBody{}
	for name, v := range newest {
		states := map[bool]string{true: regionActive, false: regionRetired}
		if v.EffectiveFrom.IsZero() {
			states = map[bool]string{true: regionJoining, false: regionLeaving}
		}
		all = append(all, regionBody{Region: name, State: states[v.Active], Since: maybeInstant(v.EffectiveFrom)})
	}
	slices.SortFunc(all, func(a, b regionBody) int {
		if a.Region < b.Region {
			return -1
		}
		return 1
	})
	return all, nil
}

func (a *api) listRegions(ctx context.Context, _ *struct{}) (*listOutput[regionBody], error) {
	all, err := a.knownRegions(ctx)
	if err != nil {
		return nil, err
	}
	return &listOutput[regionBody]{Body: list[regionBody]{Items: all}}, nil
}

type regionOutput struct{ Body regionBody }

// retireRegion ends a region: from the publisher's next tick nothing is planned there.
func (a *api) retireRegion(ctx context.Context, in *RegionPath) (*regionOutput, error) {
	changed, err := a.Regions.RetireRegion(ctx, in.Region)
	if err != nil {
		return nil, err
	}
	if changed {
		a.audit(ctx, "region.retired", "region:"+in.Region, "")
	}
	all, err := a.knownRegions(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(r regionBody) bool { return r.Region == in.Region })
	if at < 0 {
		return nil, problem(http.StatusNotFound, codeNotFound, "there is no such region, and there never was")
	}
	return &regionOutput{all[at]}, nil
}

// forgetProber takes a prober that has ended off the fleet. What it measured stays.
func (a *api) forgetProber(ctx context.Context, in *struct {
	RegionPath
	Prober string `path:"prober" maxLength:"200"`
}) (*noContent, error) {
	heard, err := a.Probers.Probers(ctx)
	if err != nil {
		return nil, down("Redis", err)
	}
	at := slices.IndexFunc(heard, func(h checkstream.Heartbeat) bool { return h.Region == in.Region && h.Name == in.Prober })
	if at < 0 {
		return nil, problem(http.StatusNotFound, codeNotFound, "there is no such prober: it was forgotten, or never heard")
	}
	prober := heard[at]
	if prober.Live() {
		return nil, problem(http.StatusConflict, "prober_running", "this prober is running: stop it first")
	}
	if prober.Spooled > 0 {
		return nil, problem(http.StatusConflict, "prober_has_rows", fmt.Sprintf("%d results lie on its disk: start it again so that they are stored. If the disk is lost, it is forgotten by itself an hour after it was last heard", prober.Spooled))
	}
	if err := a.Probers.ForgetProber(ctx, in.Region, in.Prober); err != nil {
		return nil, down("Redis", err)
	}
	a.audit(ctx, "prober.forgotten", "prober:"+in.Region+"/"+in.Prober, "")
	return nil, nil
}
