package checkstream

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Drain is a person's wish that a prober take nothing on. It outlives the prober, and ends
// when it is resumed or forgotten.
type Drain struct {
	By string    // who asked, as the audit log names them
	At time.Time // by the clock of Redis; zero when it cannot be read
}

// What becomes of a prober that is to drain.
const (
	Draining = "draining" // it finishes what it holds
	Drained  = "drained"  // it holds nothing
)

// drainJSON is the stored form.
type drainJSON struct {
	By   string `json:"by"`
	AtMS int64  `json:"at_ms"`
}

// decodeDrain reads a wish. One that cannot be read is a wish all the same: it is there,
// and the prober goes by that.
func decodeDrain(text string) *Drain {
	var d drainJSON
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		d = drainJSON{}
	}
	return &Drain{By: d.By, At: instant(d.AtMS)}
}

// Phase is how far a prober is with its drain: Draining, Drained, or nothing, when nobody
// wants it to drain and it has heard so.
func (h Heartbeat) Phase() string {
	switch {
	case h.Live() && (h.State != "" || h.Drain == nil):
		return h.State
	case h.Drain == nil:
		return ""
	case h.Live(): // it has not heard of it yet
		return Draining
	}
	return Drained // what it left is taken over, and it begins with nothing
}

// Working says whether a prober takes checks on.
func (h Heartbeat) Working() bool { return h.Live() && h.Phase() == "" }

// DrainProber keeps the wish that a prober take nothing on, whether it runs now or not. It
// says whether that is new: the first who asked is remembered.
func (f *Fleet) DrainProber(ctx context.Context, region, name, by string) (changed bool, err error) {
	now, err := f.r.Now(ctx)
	if err != nil {
		return false, err
	}
	text, err := json.Marshal(drainJSON{By: by, AtMS: now.UnixMilli()})
	if err != nil {
		return false, fmt.Errorf("drain prober %s/%s: %w", region, name, err)
	}
	changed, err = f.r.commands.HSetNX(ctx, keyDrains, regionField(region, name), text).Result()
	if err != nil {
		return false, fmt.Errorf("drain prober %s/%s: %w", region, name, err)
	}
	return changed, nil
}

// ResumeProber ends that wish, and says whether there was one.
func (f *Fleet) ResumeProber(ctx context.Context, region, name string) (changed bool, err error) {
	n, err := f.r.commands.HDel(ctx, keyDrains, regionField(region, name)).Result()
	if err != nil {
		return false, fmt.Errorf("resume prober %s/%s: %w", region, name, err)
	}
	return n > 0, nil
}
