package pagestore_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func target(t *testing.T, db *database.DB, name string) int64 {
	t.Helper()
	created, err := targetstore.New(db).Create(t.Context(), uptime.Target{Name: name, URL: "https://" + name + ".example/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true})
	if err != nil {
		t.Fatal(err)
	}
	return created.ID
}

func TestPages(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s, a, b := pagestore.New(db, nil), target(t, db, "a"), target(t, db, "b")
		first := pagestore.Page{Slug: "main", Host: "status.example.com", Published: true, Terms: pagestore.Terms{Title: "Acme", Groups: []pagestore.Group{{Name: "Web", Components: []pagestore.Component{
			{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{b, a, a}}, {Name: "By hand", Rule: pagestore.RuleManual, State: pagestore.Up},
		}}}}}
		page, err := s.Create(t.Context(), first, noon)
		if err != nil {
			t.Fatal(err)
		}
		read, err := s.Get(t.Context(), page.ID)
		if err != nil || read.Version != 1 || !read.CreatedAt.Equal(noon) || !cmp.Equal(read.Components()[0].Targets, []int64{a, b}) || read.Components()[1].ID != 2 {
			t.Fatalf("%+v, %v", read, err)
		}
		for _, p := range []pagestore.Page{{Slug: "main"}, {Slug: "other", Host: "status.example.com"}} {
			if _, err := s.Create(t.Context(), p, noon); !errors.Is(err, pagestore.ErrTaken) {
				t.Errorf("%+v: %v", p, err)
			}
		}
		if _, err := s.Create(t.Context(), pagestore.Page{Slug: "two"}, noon); err != nil { // two without a host of their own
			t.Fatal(err)
		}
		if _, err := s.Create(t.Context(), pagestore.Page{Slug: "three"}, noon); err != nil {
			t.Fatal(err)
		}
		old := func(p pagestore.Page) bool { return p.Version == 1 && p.Targets() == 2 }
		// A target that is deleted goes from its pages at once, and what was read before is old.
		if err := targetstore.New(db).Delete(t.Context(), b, 0); err != nil {
			t.Fatal(err)
		}
		if read, err = s.Get(t.Context(), page.ID); err != nil || !cmp.Equal(read.Components()[0].Targets, []int64{a}) {
			t.Fatalf("%+v, %v", read, err)
		}
		if _, err := s.Update(t.Context(), page.ID, noon, old, func(*pagestore.Page) error { return nil }); !errors.Is(err, pagestore.ErrConflict) {
			t.Error(err)
		}
		_, err = s.Update(t.Context(), page.ID, noon, nil, func(p *pagestore.Page) error {
			p.Terms.Groups[0].Components[0].Targets = []int64{a, b}
			return nil
		})
		if !errors.Is(err, pagestore.ErrTargetGone) {
			t.Error(err)
		}
		updated, err := s.Update(t.Context(), page.ID, noon.Add(time.Hour), nil, func(p *pagestore.Page) error {
			p.Terms.Groups[0].Components = append(p.Terms.Groups[0].Components[:1], pagestore.Component{Name: "New", Rule: pagestore.RuleWorst})
			return nil
		})
		if err != nil || updated.Version != 2 || updated.Components()[1].ID != 3 {
			t.Errorf("an id is used again: %+v, %v", updated, err)
		}
		all, _, err := s.Published(t.Context(), noon)
		if err != nil || len(all) != 1 || !cmp.Equal(all[0], updated) {
			t.Errorf("%s, %v", cmp.Diff(all, []pagestore.Page{updated}), err)
		}
		if err := s.Delete(t.Context(), page.ID, old); !errors.Is(err, pagestore.ErrConflict) {
			t.Error(err)
		}
		if err := s.Delete(t.Context(), page.ID, nil); err != nil {
			t.Error(err)
		}
		if _, err := s.Get(t.Context(), page.ID); !errors.Is(err, pagestore.ErrNotFound) {
			t.Error(err)
		}
	})
}

// Hosts of drafts are hosts of pages, too.
func TestHosts(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := pagestore.New(db, nil)
		for _, p := range []pagestore.Page{{Slug: "a", Host: "a.example", Published: true}, {Slug: "b"}, {Slug: "c", Host: "c.example"}} {
			if _, err := s.Create(t.Context(), p, noon); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Hosts(t.Context()); err != nil || !cmp.Equal(got, []string{"a.example", "c.example"}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestPosts(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := pagestore.New(db, nil)
		page, err := s.Create(t.Context(), pagestore.Page{Slug: "main", Published: true}, noon)
		if err != nil {
			t.Fatal(err)
		}
		post, err := s.CreatePost(t.Context(), pagestore.Post{PageID: page.ID, BegunAt: noon, Body: pagestore.Body{Title: "x", Kind: pagestore.KindIncident, Updates: []pagestore.Update{{At: noon, State: pagestore.Investigating, Text: "a"}}}})
		if err != nil || post.Version != 1 {
			t.Fatalf("%+v, %v", post, err)
		}
		if _, err := s.CreatePost(t.Context(), pagestore.Post{PageID: 4711}); !errors.Is(err, pagestore.ErrNotFound) {
			t.Error(err)
		}
		resolve := func(p *pagestore.Post) error {
			p.ResolvedAt = noon.Add(time.Hour)
			p.Body.Updates = append(p.Body.Updates, pagestore.Update{At: p.ResolvedAt, State: pagestore.Resolved})
			return nil
		}
		if _, err := s.UpdatePost(t.Context(), page.ID, post.ID, 7, resolve); !errors.Is(err, pagestore.ErrConflict) {
			t.Error(err)
		}
		if _, err := s.UpdatePost(t.Context(), page.ID+1, post.ID, 0, resolve); !errors.Is(err, pagestore.ErrPostNotFound) {
			t.Errorf("of another page: %v", err)
		}
		updated, err := s.UpdatePost(t.Context(), page.ID, post.ID, 1, resolve)
		if err != nil || updated.State() != pagestore.Resolved {
			t.Fatalf("%+v, %v", updated, err)
		}
		for since, want := range map[time.Time]int{noon: 1, noon.Add(2 * time.Hour): 0} {
			if _, posts, err := s.Published(t.Context(), since); err != nil || len(posts[page.ID]) != want {
				t.Errorf("since %v: %+v, %v", since, posts, err)
			}
		}
		list, err := s.Posts(t.Context(), page.ID, 0, 10)
		if err != nil || len(list) != 1 || !cmp.Equal(list[0], updated) {
			t.Errorf("%+v, %v", list, err)
		}
		if err := s.DeletePost(t.Context(), page.ID, post.ID, 0); err != nil {
			t.Error(err)
		}
		if _, err := s.Post(t.Context(), page.ID, post.ID); !errors.Is(err, pagestore.ErrPostNotFound) {
			t.Error(err)
		}
	})
}

func TestPostsAsTheyWereKnown(t *testing.T) {
	t.Parallel()
	said := func(minutes int, state string) pagestore.Update {
		return pagestore.Update{At: noon.Add(time.Duration(minutes) * time.Minute), State: state}
	}
	post := pagestore.Post{BegunAt: noon, Body: pagestore.Body{Updates: []pagestore.Update{said(0, pagestore.Investigating), said(10, pagestore.Resolved), said(20, pagestore.Monitoring)}}}
	for minutes, want := range map[int]struct {
		said int
		over bool
	}{-1: {0, false}, 0: {1, false}, 10: {2, true}, 20: {3, false}} {
		got, is := post.KnownAt(noon.Add(time.Duration(minutes) * time.Minute))
		if is != (want.said > 0) || len(got.Body.Updates) != want.said || got.ResolvedAt.IsZero() == want.over {
			t.Errorf("after %d minutes: %v %+v", minutes, is, got)
		}
	}
	if len(post.Body.Updates) != 3 {
		t.Error("the post itself was changed")
	}
}

// Who carried the tags of a component then, and is there still.
func TestMembersOfThen(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s, a, b := pagestore.New(db, nil), target(t, db, "a"), target(t, db, "b")
		after := func(minutes int) int64 { return noon.Add(time.Duration(minutes) * time.Minute).UnixMilli() }
		carry := func(id int64, tag string, from int64, to any) {
			t.Helper()
			if err := db.Write().Exec("INSERT INTO target_tags (target_id, tag, from_ms, to_ms) VALUES (?, ?, ?, ?)", id, tag, from, to).Error; err != nil {
				t.Fatal(err)
			}
		}
		carry(a, "web", after(0), after(10))
		carry(a, "web", after(20), nil)
		carry(a, "eu", after(5), nil)
		carry(b, "web", after(0), nil)
		page, err := s.Create(t.Context(), pagestore.Page{Slug: "main", Terms: pagestore.Terms{Groups: []pagestore.Group{{Components: []pagestore.Component{
			{Name: "Site", Rule: pagestore.RuleWorst, Tags: []string{"web"}, Targets: []int64{b}}, {Name: "Both", Rule: pagestore.RuleWorst, Tags: []string{"eu", "web"}},
		}}}}}, noon)
		if err != nil {
			t.Fatal(err)
		}
		for minutes, want := range map[int][2][]int64{-1: {}, 0: {{a, b}, nil}, 5: {{a, b}, {a}}, 10: {{b}, nil}, 20: {{a, b}, {a}}} {
			got, err := s.KnownAt(t.Context(), page.ID, time.UnixMilli(after(minutes)))
			if err != nil || len(got.Components()[0].Targets) != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
			for i, c := range got.Components() {
				if !slices.Equal(c.Members, want[i]) {
					t.Errorf("after %d minutes %s: %v, want %v", minutes, c.Name, c.Members, want[i])
				}
			}
		}
		if _, err := s.KnownAt(t.Context(), 4711, noon); !errors.Is(err, pagestore.ErrNotFound) {
			t.Error(err)
		}
	})
}

// A post may tell of an incident, for as long as there is one.
func TestPostsOfAnIncident(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s, shop, other := pagestore.New(db, nil), target(t, db, "shop"), target(t, db, "other")
		incident, another := open(t, db, shop), open(t, db, other)
		acme, err := s.Create(t.Context(), pagestore.Page{Slug: "acme", Published: true, Terms: pagestore.Terms{Title: "Acme"}}, noon)
		if err != nil {
			t.Fatal(err)
		}
		draft, err := s.Create(t.Context(), pagestore.Page{Slug: "draft", Terms: pagestore.Terms{Title: "Draft"}}, noon)
		if err != nil {
			t.Fatal(err)
		}
		write := func(page pagestore.Page, incident int64) (pagestore.Post, error) {
			return s.CreatePost(t.Context(), pagestore.Post{PageID: page.ID, IncidentID: incident, BegunAt: noon, Body: pagestore.Body{Title: "x", Kind: pagestore.KindIncident,
				Updates: []pagestore.Update{{At: noon, State: pagestore.Investigating, Text: "a", By: "user:1"}}}})
		}
		var posts []pagestore.Post
		for _, of := range []struct {
			page     pagestore.Page
			incident int64
		}{{acme, incident}, {draft, incident}, {acme, another}, {acme, 0}} {
			p, err := write(of.page, of.incident)
			if err != nil || p.IncidentID != of.incident || p.Body.Updates[0].By != "user:1" {
				t.Fatalf("%+v, %v", p, err)
			}
			posts = append(posts, p)
		}
		told := func(incident int64, limit int, want ...pagestore.Post) {
			t.Helper()
			got, on, err := s.Told(t.Context(), incident, limit)
			if err != nil || !cmp.Equal(got, want) {
				t.Errorf("of %d: %s, %v", incident, cmp.Diff(got, want), err)
			}
			for _, p := range got {
				if on[p.PageID].ID != p.PageID || on[p.PageID].Terms.Title == "" {
					t.Errorf("on %+v", on)
				}
			}
		}
		told(incident, 10, posts[0], posts[1])
		told(incident, 1, posts[1])
		told(4711, 10)
		if _, err := write(acme, 4711); !errors.Is(err, pagestore.ErrIncidentGone) {
			t.Error(err)
		}
		about := func(id int64) func(*pagestore.Post) error {
			return func(p *pagestore.Post) error { p.IncidentID = id; return nil }
		}
		if _, err := s.UpdatePost(t.Context(), acme.ID, posts[3].ID, 0, about(4711)); !errors.Is(err, pagestore.ErrIncidentGone) {
			t.Error(err)
		}
		if read, err := s.Post(t.Context(), acme.ID, posts[3].ID); err != nil || !cmp.Equal(read, posts[3]) {
			t.Errorf("a write that was refused changed it: %+v, %v", read, err)
		}
		if posts[3], err = s.UpdatePost(t.Context(), acme.ID, posts[3].ID, 0, about(incident)); err != nil {
			t.Fatal(err)
		}
		if _, err = s.UpdatePost(t.Context(), acme.ID, posts[0].ID, 0, about(0)); err != nil {
			t.Fatal(err)
		}
		told(incident, 10, posts[1], posts[3])
		// The incident goes with its target: what was told stays, and can still be added to.
		if err := targetstore.New(db).Delete(t.Context(), shop, 0); err != nil {
			t.Fatal(err)
		}
		told(incident, 10)
		left, err := s.UpdatePost(t.Context(), draft.ID, posts[1].ID, 1, func(p *pagestore.Post) error { p.Body.Title = "y"; return nil })
		if err != nil || left.IncidentID != 0 || left.Body.Title != "y" {
			t.Errorf("%+v, %v", left, err)
		}
		told(another, 10, posts[2])
		if err := s.Delete(t.Context(), acme.ID, nil); err != nil {
			t.Fatal(err)
		}
		told(another, 10)
	})
}

func open(t *testing.T, db *database.DB, target int64) (id int64) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *gorm.DB) error {
		i, _, err := incidentstore.New(db, nil).Open(t.Context(), tx, incidentstore.Opening{TargetID: target, FirstSlot: noon, At: noon, Severity: incidentstore.Down})
		id = i.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}
