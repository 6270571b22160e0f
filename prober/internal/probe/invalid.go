package probe

import "github.com/probefleet/probefleet/internal/uptime"

// Impossible says whether no visit of this check can be made here, whatever the target
// does: its kind or its spec is none that this engine knows, or a secret does not open.
func (e *Engine) Impossible(check uptime.Check) bool { return !e.plans.of(&check).bad.none() }
