// Package verdictstore keeps what the evaluator remembers, and turns its decisions into
// incidents.
//
// A commit is one transaction: changed states, what was decided, and the place in the stream
// of results up to which they hold. It is refused with ErrOvertaken when somebody else has
// committed since the caller read or last did, so of two evaluators that both believe to be
// the one, one writes. What is committed twice under the same keys is there once
// (package incidentstore).
package verdictstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/probefleet/probefleet/internal/blindstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/selfdoubt"
	"github.com/probefleet/probefleet/internal/verdict"
)

// ErrOvertaken says that somebody else commits: read again what there is.
var ErrOvertaken = errors.New("somebody else evaluates")

// Store reads and writes what the evaluator remembers.
type Store struct {
	db            *database.DB
	aloud, silent *incidentstore.Store
}

// New makes a store on an open database. Incidents are opened and changed through aloud,
// which tells people of them.
func New(db *database.DB, aloud *incidentstore.Store) *Store {
	return &Store{db: db, aloud: aloud, silent: incidentstore.New(db, nil)}
}

// Saved is what was committed last.
type Saved struct {
	Entry  string // of the stream of results; "": none yet
	Turn   int64  // names the commit
	States map[int64]verdict.FoldState
	// Unread are targets whose state an other version wrote: they are folded anew.
	Unread []int64
	// Alone are targets with an outage of which no more can be read than that it is: it is told alone.
	Alone []int64
	Blind []selfdoubt.Window // that are open, or have ended lately
	// Outages are those that are open and in no group; Groups those that go on.
	Outages []Outage
	Groups  []incidentstore.OpenGroup
}

// Commit is what is to be remembered together.
type Commit struct {
	Entry     string // the newest that is folded in
	Turn      int64  // of what was read, or committed before
	At        time.Time
	States    []verdict.FoldState // changed ones
	Decisions []Decision          // in order
	// Confirmations that came; one that is there already is not written again.
	Confirmations []Confirmation
	Blind         []selfdoubt.Window // new ones, and those that are over
}

// Decision is one about a target, with what its incident says of it.
type Decision struct {
	verdict.Decision
	Subject    incidentstore.Subject
	Failure    string
	HTTPStatus int

	Hold  *Outage   // of opened: it is not told yet, but remembered
	Tell  bool      // no decision of the verdict: what was held is told alone
	Group *Grouping // nor this: what was held, or told alone, is gathered, and that is told
}

type stateRow struct {
	TargetID int64  `gorm:"column:target_id;primaryKey;autoIncrement:false"`
	State    string `gorm:"column:state"`
}

func (stateRow) TableName() string { return "verdict_states" }

// blindFor is how long a window that is over is still of use to whoever reads it.
const blindFor = 25 * time.Hour

// Load reads what was committed last.
func (s *Store) Load(ctx context.Context) (saved Saved, err error) {
	saved.States = map[int64]verdict.FoldState{}
	err = s.db.Tx(ctx, func(tx *gorm.DB) error { // at one instant
		if err := tx.Raw("SELECT entry, turn FROM verdict_cursor WHERE id = 1").Row().Scan(&saved.Entry, &saved.Turn); err != nil {
			return err
		}
		rows, err := gorm.G[stateRow](tx).Find(ctx)
		for _, row := range rows {
			state, err := verdict.DecodeState([]byte(row.State))
			if err != nil {
				saved.Unread = append(saved.Unread, row.TargetID)
				continue
			}
			saved.States[row.TargetID] = state
		}
		if err != nil {
			return err
		}
		if saved.Outages, saved.Alone, err = readOutages(tx); err != nil {
			return err
		}
		if saved.Groups, err = incidentstore.OpenGroups(tx); err != nil {
			return err
		}
		blind, err := blindstore.Held(tx, time.Now().Add(-blindFor))
		for _, w := range blind {
			saved.Blind = append(saved.Blind, w.Window)
		}
		return err
	})
	return saved, database.Failed(ctx, "read verdicts", err)
}

const (
	advance = "UPDATE verdict_cursor SET entry = ?, turn = turn + 1, committed_at_ms = ? WHERE id = 1 AND turn = ?"
	// A target that was deleted meanwhile has no state, and no incident.
	existing = "SELECT id FROM targets WHERE id IN ?"
)

// Commit writes all of c, or nothing. The next one's turn is the one it gives.
func (s *Store) Commit(ctx context.Context, c Commit) (turn int64, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		advanced := tx.Exec(advance, c.Entry, c.At.UnixMilli(), c.Turn)
		if advanced.Error != nil {
			return advanced.Error
		}
		if advanced.RowsAffected == 0 {
			return ErrOvertaken
		}
		there, err := targetsThere(tx, c)
		if err != nil {
			return err
		}
		var rows []stateRow
		for _, state := range c.States {
			if !there[state.TargetID] {
				continue
			}
			encoded, err := json.Marshal(state)
			if err != nil {
				return err
			}
			rows = append(rows, stateRow{state.TargetID, string(encoded)})
		}
		if len(rows) > 0 {
			err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "target_id"}}, DoUpdates: clause.AssignmentColumns([]string{"state"})}).CreateInBatches(rows, 200).Error
			if err != nil {
				return err
			}
		}
		if err := addConfirmations(tx, c.Confirmations, there); err != nil {
			return err
		}
		for _, w := range c.Blind {
			if err := blindstore.Note(ctx, tx, s.aloud, w, c.At); err != nil {
				return err
			}
		}
		for _, d := range c.Decisions {
			if d.Group != nil {
				if err := s.gather(ctx, tx, *d.Group, there); err != nil {
					return err
				}
				continue
			}
			if !there[d.TargetID] {
				continue
			}
			if err := s.decide(ctx, tx, d); err != nil {
				return fmt.Errorf("%s of target %d: %w", d.Kind, d.TargetID, err)
			}
		}
		return s.aloud.EndGroups(ctx, tx, c.At)
	})
	if errors.Is(err, ErrOvertaken) {
		return 0, ErrOvertaken
	}
	return c.Turn + 1, database.Failed(ctx, "commit verdicts", err)
}

func targetsThere(tx *gorm.DB, c Commit) (map[int64]bool, error) {
	there := map[int64]bool{}
	for _, state := range c.States {
		there[state.TargetID] = false
	}
	for _, d := range c.Decisions {
		if d.Group == nil {
			there[d.TargetID] = false
			continue
		}
		for _, m := range d.Group.Members {
			there[m.TargetID] = false
		}
	}
	for _, a := range c.Confirmations {
		there[a.TargetID] = false
	}
	ids := make([]int64, 0, 500)
	look := func() error {
		var found []int64
		err := tx.Raw(existing, ids).Scan(&found).Error
		for _, id := range found {
			there[id] = true
		}
		ids = ids[:0]
		return err
	}
	for id := range there {
		if ids = append(ids, id); len(ids) == cap(ids) {
			if err := look(); err != nil {
				return nil, err
			}
		}
	}
	return there, look()
}

// decide makes one decision true. A key names it, so that doing it again changes nothing.
func (s *Store) decide(ctx context.Context, tx *gorm.DB, d Decision) error {
	store := s.aloud
	if d.Notify == verdict.NotifyNobody || d.Hold != nil {
		store = s.silent
	}
	key := fmt.Sprintf("%d", d.At.UnixMilli())
	cause := incidentstore.Cause{Explanation: d.Why, Because: d.Because, Failure: d.Failure, Regions: d.Regions, HTTPStatus: d.HTTPStatus}
	if d.Kind == verdict.Opened {
		_, _, err := store.Open(ctx, tx, incidentstore.Opening{
			TargetID: d.TargetID, FirstSlot: d.Slot, Severity: incidentstore.Severity(d.Severity), Subject: d.Subject, Cause: cause, At: d.At,
		})
		if err == nil && d.Hold != nil {
			err = writeOutage(tx, *d.Hold)
		}
		return err
	}
	incident, err := incidentstore.ByKey(ctx, tx, d.TargetID, d.Slot)
	if errors.Is(err, incidentstore.ErrNotFound) {
		return nil // it was suppressed, or is about no incident
	}
	if err != nil {
		return err
	}
	if d.Tell {
		if err := toldAlone(tx, d.TargetID, d.Slot); err != nil {
			return err
		}
		return s.aloud.Tell(ctx, tx, incident, d.At)
	}
	switch d.Kind {
	case verdict.Resolved:
		if err := dropOutage(tx, d.TargetID, d.Slot); err != nil {
			return err
		}
		_, err = store.Resolve(ctx, tx, incident, d.At, d.Why)
	case verdict.SeverityChanged:
		i, err := incidentstore.Hold(ctx, tx, incident)
		if err != nil {
			return err
		}
		if i.GroupID != 0 { // people hear of the group
			store = s.silent
		}
		_, err = store.SetSeverity(ctx, tx, incident, key, incidentstore.Severity(d.Severity), cause, d.At)
		return err
	case verdict.Corrected:
		err = store.Correct(ctx, tx, incident, key, incidentstore.Event{At: d.At, Text: d.Why})
	case verdict.FlappingBegan, verdict.FlappingEnded:
		err = store.Remark(ctx, tx, incident, string(d.Kind)+":"+key, incidentstore.Event{At: d.At, Text: d.Why})
	case verdict.Opened, verdict.Suppressed:
	}
	return err
}
