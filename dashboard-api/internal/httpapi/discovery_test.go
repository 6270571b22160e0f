package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// discover asks as Prometheus does.
func (b *bench) discover(query string) reply {
	b.Helper()
	got := b.do("GET", discoveryPath+query, "", as(viewerKey), header("Accept", "application/json"), header("X-Prometheus-Refresh-Interval-Seconds", "60"))
	if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "application/json" {
		b.Fatalf("%d %v %s", got.Code, got.Header(), got.text)
	}
	return got
}

// addresses are those that are discovered.
func (b *bench) addresses(query string) (all []string) {
	b.Helper()
	var found []struct{ Targets []string }
	b.discover(query).into(b, &found)
	for _, one := range found {
		all = append(all, one.Targets...)
	}
	return all
}

// What Prometheus is told of a target is this and nothing else, in the form it takes.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hub.SetRegions([]string{"eu", "us"}, nil)
	if got := b.discover("").text; got != "[]\n" {
		t.Errorf("of no targets: %q", got)
	}
	b.create(`{"url":"https://example.com/health?deep=1","name":"Shop <b>&\"x\"","tags":["prod","team:db"],"http":{"token":"hidden-token","headers":[{"name":"X-Key","secret":"hidden-header"}],"query_secret":"key=hidden-query"}}`)
	b.create(`{"url":"tcp://db.example.com:5432","name":"Database","regions":["us"],"parent_id":1}`)
	if err := b.db.Write().Exec("UPDATE targets SET url = 'https://hidden-name:hidden-password@example.com/health?deep=1' WHERE id = 1").Error; err != nil {
		t.Fatal(err)
	}
	const want = `[{"targets":["https://example.com/health?deep=1"],"labels":{"__meta_probefleet_id":"1","__meta_probefleet_kind":"http","__meta_probefleet_name":"Shop <b>&\"x\"","__meta_probefleet_parent_id":"","__meta_probefleet_regions":",eu,us,",` +
		`"__meta_probefleet_tags":",prod,team:db,","__meta_probefleet_url":"https://example.com/health?deep=1"}},` +
		`{"targets":["db.example.com:5432"],"labels":{"__meta_probefleet_id":"2","__meta_probefleet_kind":"tcp","__meta_probefleet_name":"Database","__meta_probefleet_parent_id":"1","__meta_probefleet_regions":",us,",` +
		`"__meta_probefleet_tags":"","__meta_probefleet_url":"tcp://db.example.com:5432"}}]`
	got := b.discover("")
	var have, expected any
	got.into(t, &have)
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(have) != fmt.Sprint(expected) {
		t.Errorf("%s, want %s", got.text, want)
	}
	if strings.Contains(got.text, "hidden") {
		t.Errorf("it tells a secret: %s", got.text)
	}
}

// Addresses are what an exporter dials for the kind; what is not visited is not there.
func TestDiscoveredAddresses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range [][2]string{
		{`"url":"wss://example.com/socket"`, "wss://example.com/socket"},
		{`"url":"tls://example.com"`, "example.com:443"},
		{`"url":"tls://[2001:4860:4860::8888]"`, "[2001:4860:4860::8888]:443"},
		{`"url":"tls://example.com:8443"`, "example.com:8443"},
		{`"url":"grpcs://example.com:9443/pkg.Service"`, "example.com:9443"},
		{`"url":"icmp://[2001:4860:4860::8888]"`, "2001:4860:4860::8888"},
		{`"url":"icmp://example.com"`, "example.com"},
		{`"url":"dns://8.8.8.8/example.com?type=A"`, "8.8.8.8"},
		{`"url":"dns:///example.com?type=A"`, "dns:///example.com?type=A"},
		{`"url":"heartbeat://job","heartbeat":{"period_s":60,"grace_s":60}`, ""},
		{`"url":"https://paused.example.com/","active":false`, ""},
	} {
		made := b.create(`{` + c[0] + `}`)
		var want []string
		if c[1] != "" {
			want = []string{c[1]}
		}
		if got := b.addresses(""); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c[0], got, want)
		}
		if got := b.do("DELETE", location(made.ID), "", as(editorKey)); got.Code != http.StatusNoContent {
			t.Fatal(got.Code, got.text)
		}
	}
}

// It is chosen from as the list of targets is.
func TestDiscoveryOfSome(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://a.example.com/","tags":["prod","db"]}`)
	b.create(`{"url":"https://b.example.com/","tags":["prod"],"parent_id":1}`)
	b.create(`{"url":"https://c.example.com/","tags":["prod"],"active":false}`)
	for query, want := range map[string][]string{
		"": {"https://a.example.com/", "https://b.example.com/"}, "?tag=Prod&tag=db": {"https://a.example.com/"}, "?search=B.EXAMPLE": {"https://b.example.com/"}, "?parent_id=1": {"https://b.example.com/"}, "?tag=none": nil,
	} {
		if got := b.addresses(query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"?tag=a%20b", "?search=%00", "?parent_id=x"} {
		if got := b.do("GET", discoveryPath+query, "", as(viewerKey)); got.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", query, got.Code, got.text)
		}
	}
}

// crowd is many targets, of which none after a certain one can be read.
type crowd struct {
	Targets
	most, broken int64
}

func (c crowd) List(_ context.Context, filter targetstore.Filter) (all []uptime.Target, err error) {
	for id := filter.AfterID + 1; id <= c.most && len(all) < filter.Limit; id++ {
		if id == c.broken {
			return nil, errors.New("the database is away")
		}
		all = append(all, uptime.Target{ID: id, Name: fmt.Sprint(id), URL: fmt.Sprintf("https://example.com/%d", id), Kind: uptime.KindHTTP, Active: true})
	}
	return all, nil
}

// A list is whole, however long it is, or none: whatever is not in it Prometheus drops.
func TestDiscoveryIsWholeOrNone(t *testing.T) {
	t.Parallel()
	for _, most := range []int64{999, 1000, 1001, 2500} {
		b := newBenchOn(t, testbackend.SQLite(t), func(_ *bench, o *Options) { o.Targets = crowd{o.Targets, most, 0} })
		got := b.addresses("")
		if slices.Sort(got); int64(len(slices.Compact(got))) != most {
			t.Errorf("%d of %d", len(got), most)
		}
	}
	b := newBenchOn(t, testbackend.SQLite(t), func(_ *bench, o *Options) { o.Targets = crowd{o.Targets, 2500, 1500} })
	if got := b.do("GET", discoveryPath, "", as(viewerKey)); got.Code != http.StatusInternalServerError || got.problem(t).Code == "" || strings.Contains(got.text, "targets") {
		t.Errorf("a part of it: %d %.200s", got.Code, got.text)
	}
}

// It is for keys that may read, and for nobody else; for none it is public.
func TestDiscoveryNeedsAKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	reads, writes := b.key(`{"name":"prometheus","scopes":["read"]}`, as(ownerKey)), b.key(`{"name":"importer","scopes":["targets:write"]}`, as(ownerKey))
	for key, want := range map[string]int{"": 401, revokedKey: 401, writes.Key: 403, reads.Key: 200, viewerKey: 200} {
		if got := b.do("GET", discoveryPath, "", as(key)); got.Code != want {
			t.Errorf("%q: %d %s, want %d", key, got.Code, got.text, want)
		}
	}
}
