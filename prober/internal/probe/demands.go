package probe

import (
	"crypto/sha256"
	"encoding/json"
	"runtime"
	"sync"
	"weak"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/uptime"
)

// demands are the compiled assertions of plans, once for all that demand the same: most of a
// region's targets do, and those of tens of thousands would be most of what the collector looks at.
// A set is forgotten with the last plan that has it.
type demands struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]weak.Pointer[assertion.Set] // by what is demanded
}

func newDemands() *demands {
	return &demands{all: map[[sha256.Size]byte]weak.Pointer[assertion.Set]{}}
}

func (d *demands) compile(list []uptime.Assertion) (*assertion.Set, error) {
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(text)
	d.mu.Lock()
	defer d.mu.Unlock()
	if set := d.all[key].Value(); set != nil {
		return set, nil
	}
	set, err := assertion.Compile(list)
	if err != nil {
		return nil, err
	}
	d.all[key] = weak.Make(set)
	runtime.AddCleanup(set, d.forget, key)
	return set, nil
}

// forget drops what nobody demands any more, unless somebody did again meanwhile.
func (d *demands) forget(key [sha256.Size]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all[key].Value() == nil {
		delete(d.all, key)
	}
}
