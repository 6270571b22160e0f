package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
)

// givenUp takes the next check that a region has not read and makes it one that six
// deliveries did not settle. Nobody of the region may be reading.
func (t *trial) givenUp(region string) (id string) {
	t.Helper()
	redis := t.console()
	t.await(10*time.Second, "a check that nobody has read", func() bool {
		reply, err := redis.try("EVAL", `
			local got = redis.call('XREADGROUP', 'GROUP', ARGV[1], 'nobody', 'COUNT', 1, 'STREAMS', KEYS[1], '>')
			if not got then return '' end
			local id = got[1][2][1][1]
			redis.call('XCLAIM', KEYS[1], ARGV[1], 'nobody', 0, id, 'IDLE', 60000, 'RETRYCOUNT', 6, 'JUSTID')
			return id`, 1, checksKey, region)
		id, _ = reply.(string)
		return err == nil && id != ""
	})
	return id
}

// spoil replaces the newest three checks, which nobody has read yet, by entries of the
// same ids that are no checks: words, ten megabytes, and a version of the future.
func (t *trial) spoil() (ids []string) {
	t.Helper()
	redis := t.console()
	ids = words(redis.do("EVAL", `
		local rows = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 4)
		local ids = { rows[3][1], rows[2][1], rows[1][1] }
		local info, added = redis.call('XINFO', 'STREAM', KEYS[1]), 0
		for i = 1, #info, 2 do if info[i] == 'entries-added' then added = info[i + 1] end end
		redis.call('XDEL', KEYS[1], unpack(ids))
		redis.call('XSETID', KEYS[1], rows[4][1], 'ENTRIESADDED', added - 3, 'MAXDELETEDID', '0-0')
		redis.call('XADD', KEYS[1], ids[1], 'v', '1', 'c', 'this is no check')
		redis.call('XADD', KEYS[1], ids[2], 'v', '1', 'c', string.rep('x', 10 * 1024 * 1024))
		redis.call('XADD', KEYS[1], ids[3], 'v', '9', 'c', 'from the future')
		return ids`, 1, checksKey))
	if len(ids) != 3 {
		t.Fatalf("the stream is too short: %v", ids)
	}
	return ids
}

// letter is what `dead-letters ls --json` says of one.
type letter struct {
	ID, Region, Entry, Reason string
	Replayable                bool
}

// operator runs the shipped command against the fleet's Redis.
func (t *trial) operator(args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(testfleet.Programs(t, build()), "probefleet"), append([]string{"dead-letters"}, args...)...)
	cmd.Env = append(os.Environ(), "REDIS_URL="+t.rig.redis.url())
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Errorf("probefleet dead-letters %v: %v: %s", args, err, errOut.String())
	}
	return out.String()
}

func (t *trial) letters() (found []letter) {
	t.Helper()
	var list struct{ Items []letter }
	text := t.operator("ls", "--json", "--limit", "1000")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("ls --json: %v: %s", err, text)
	}
	return list.Items
}

// poisoned puts what is no check, and a check that six deliveries did not survive,
// between the others, and replays the latter once it is a dead letter.
func poisoned(r *rig, t *trial) {
	t.operator("purge", "--all")
	t.inject()
	for _, p := range r.probers {
		p.freeze()
	}
	t.wait(3500 * time.Millisecond) // the two of a region were waiting to read, and each is still given what comes next
	bad := t.spoil()
	hopeless := t.givenUp("eu")
	for _, p := range r.probers {
		p.thaw()
	}
	var found []letter
	t.await(30*time.Second, "seven dead letters", func() bool { found = t.letters(); return len(found) >= 7 })
	t.recovered(30 * time.Second)
	replay := ""
	for _, l := range found {
		known := l.Entry == hopeless
		for _, id := range bad {
			known = known || l.Entry == id && strings.HasPrefix(l.Reason, "malformed")
		}
		if !known || l.Replayable != (l.Entry == hopeless) {
			t.Errorf("letter %+v", l)
		}
		if l.Entry == hopeless {
			replay = l.ID
		}
	}
	if len(found) != 7 || replay == "" {
		t.Fatalf("%d letters, want three in each region and one of %s: %v", len(found), hopeless, found)
	}
	given := func() int {
		return t.rowsOf("region = 'eu' AND reason = 'dead_letter' AND " + slotsIn([]string{hopeless}))
	}
	t.await(20*time.Second, "its slot says so", func() bool { return given() == 1 })
	t.operator("replay", replay)
	t.await(40*time.Second, "it is measured after all", func() bool {
		return given() == 0 && t.rowsOf("region = 'eu' AND status = 'up' AND "+slotsIn([]string{hopeless})) == 1 && len(t.letters()) == 6
	})
	t.operator("purge", "--all")
	t.awaitEveryRow(t.injected.Add(5*time.Second), 3*time.Minute)
	if n, of := t.rowsOf(unmeasured), t.rowsOf(unmeasured+" AND "+slotsIn(bad)); n != of || n > 2*len(bad) {
		t.Errorf("%d slots are not measured, %d of them were poison", n, of)
	}
	for _, id := range bad {
		if n := t.rowsOf(slotsIn([]string{id})); n != 2 {
			t.Errorf("%s has %d rows: %s", id, n, fmt.Sprint(bad))
		}
	}
}
