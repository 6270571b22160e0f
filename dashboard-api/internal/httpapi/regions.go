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

// Drains are what people want of probers: that they take nothing on.
type Drains interface {
	DrainProber(ctx context.Context, region, name, by string) (changed bool, err error)
	ResumeProber(ctx context.Context, region, name string) (changed bool, err error)
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

// ProberPath names a prober in a path.
type ProberPath struct {
	RegionPath
	Prober string `path:"prober" maxLength:"200"`
}

// heard gives the prober that a path names, as it was heard last.
func (a *api) heard(ctx context.Context, in *ProberPath) (checkstream.Heartbeat, error) {
	all, err := a.Probers.Probers(ctx)
	if err != nil {
		return checkstream.Heartbeat{}, down("Redis", err)
	}
	at := slices.IndexFunc(all, func(h checkstream.Heartbeat) bool { return h.Region == in.Region && h.Name == in.Prober })
	if at < 0 {
		return checkstream.Heartbeat{}, problem(http.StatusNotFound, codeNotFound, "there is no such prober: it was forgotten, or never heard")
	}
	return all[at], nil
}

// forgetProber takes a prober that has ended off the fleet. What it measured stays.
func (a *api) forgetProber(ctx context.Context, in *ProberPath) (*noContent, error) {
	prober, err := a.heard(ctx, in)
	if err != nil {
		return nil, err
	}
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

type proberOutput struct{ Body FleetProber }

// drainProber has a prober finish what it holds and take nothing on, until somebody resumes
// it: it hears of that with its next heartbeat.
func (a *api) drainProber(ctx context.Context, in *ProberPath) (*proberOutput, error) {
	return a.wish(ctx, in, "prober.drained", func() (bool, error) {
		return a.Drains.DrainProber(ctx, in.Region, in.Prober, identityOf(ctx).Actor)
	})
}

func (a *api) resumeProber(ctx context.Context, in *ProberPath) (*proberOutput, error) {
	return a.wish(ctx, in, "prober.resumed", func() (bool, error) {
		return a.Drains.ResumeProber(ctx, in.Region, in.Prober)
	})
}

// wish changes what is wanted of a prober that is known, and shows that.
func (a *api) wish(ctx context.Context, in *ProberPath, action string, change func() (bool, error)) (*proberOutput, error) {
	if _, err := a.heard(ctx, in); err != nil {
		return nil, err
	}
	changed, err := change()
	if err != nil {
		return nil, down("Redis", err)
	}
	if changed {
		a.audit(ctx, action, "prober:"+in.Region+"/"+in.Prober, "")
	}
	prober, err := a.heard(ctx, in)
	if err != nil {
		return nil, err
	}
	return &proberOutput{NewFleetProber(prober)}, nil
}
