package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/whatchanged"
	"github.com/probefleet/probefleet/migrations"
	"github.com/probefleet/probefleet/prober/internal/probe"
)

// site is a web site as its owner has set it up.
type site struct {
	certificate    *tls.Certificate
	home, software string
	broken         bool
}

// certificateBy makes one of 127.0.0.1 that names another organization as its issuer: itself.
func certificateBy(t *testing.T, issuer string, until time.Time) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: issuer}, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// A site gets another certificate, another home page and other software, and then fails: what
// had changed is told from what is stored, also when it came by the disk.
func TestWhatChangedBeforeItFailed(t *testing.T) {
	t.Parallel()
	clickHouse := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), clickHouse, func(string) {}); err != nil {
		t.Fatal(err)
	}
	store, err := resultstore.Open(t.Context(), clickHouse)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()

	soon, later := time.Now().AddDate(0, 0, 20).Truncate(time.Second).UTC(), time.Now().AddDate(0, 3, 0).Truncate(time.Second).UTC()
	was := site{certificate: certificateBy(t, "Old CA", soon), home: "/home", software: "nginx"}
	is := site{certificate: certificateBy(t, "New CA", later), home: "/landing", software: "caddy", broken: true}
	var now atomic.Pointer[site]
	now.Store(&was)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := now.Load()
		w.Header().Set("Server", s.software)
		w.Header().Set("Cache-Control", fmt.Sprint("max-age=", time.Now().Nanosecond()))
		switch {
		case r.URL.Path == "/":
			http.Redirect(w, r, s.home+"?session=canary", http.StatusFound)
		case s.broken:
			http.Error(w, "no", http.StatusServiceUnavailable)
		}
	}))
	server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{*now.Load().certificate}}, nil
	}}
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(was.certificate.Leaf)
	roots.AddCert(is.certificate.Leaf)
	engine := probe.New(probe.Options{
		Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}), Roots: roots, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	began := time.Now().Truncate(time.Minute).Add(-time.Hour)
	visit := func(minute int) uptime.Result {
		check := uptime.Check{TargetID: 1, Kind: uptime.KindHTTP, URL: server.URL + "/", Timeout: 10 * time.Second}
		answer := make(chan probe.Outcome, 1)
		go engine.Check(t.Context(), &check, func(o probe.Outcome) { answer <- o })
		o := <-answer
		at := began.Add(time.Duration(minute) * time.Minute)
		return uptime.Result{
			TargetID: 1, Region: "eu", ScheduledAt: at, CheckedAt: at, Status: o.Status, Failure: o.Failure, Reason: o.Reason, HTTPStatus: o.HTTPStatus, Phases: o.Phases, TotalUS: o.TotalUS,
			Message: o.Message, Address: o.Address, CertNotAfter: o.CertNotAfter, Attempt: 1, Prober: "p1", Seen: o.Seen, Evidence: o.Evidence, Print: o.Print,
		}
	}
	var rows []uptime.Result
	for minute := range 5 {
		rows = append(rows, visit(minute))
	}
	now.Store(&is)
	for minute := range 2 {
		rows = append(rows, visit(5+minute))
	}
	prints := 0
	for _, r := range rows {
		if r.Print != nil {
			prints++
		}
	}
	if prints != 1 {
		t.Errorf("%d prints of a site that did not change while it was up: %+v", prints, rows[0])
	}

	// By way of the disk: the rows are spooled, and replayed by the next start.
	dir := t.TempDir()
	disk, err := spool.Open(spool.Options{Dir: dir, MaxBytes: 1 << 20, Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.Append(resultstore.Batch{Token: "one", Prober: "p1", Region: "eu", Attempt: 1, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	rec := recorder.New(store, recorder.Options{Prober: "p1", Region: "eu", Spool: disk})
	go func() { _ = rec.Run(t.Context()) }()
	var turns []resultstore.Turn
	arrived := func() bool { return len(turns) > 0 && turns[0].Good != nil && turns[0].Good.Print != nil } // prints follow their rows
	for deadline := time.Now().Add(hang); !arrived() && time.Now().Before(deadline); {
		if turns, err = store.Turns(t.Context(), 1, began.Add(5*time.Minute), time.Now(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(turns) != 1 || turns[0].Good == nil || !turns[0].Good.ScheduledAt.Equal(began.Add(4*time.Minute)) || !turns[0].Bad.ScheduledAt.Equal(began.Add(5*time.Minute)) {
		t.Fatalf("%+v", turns)
	}
	differences, gaps := whatchanged.Between(uptime.KindHTTP, turns[0].Good, &turns[0].Bad)
	var told []string
	for _, d := range differences {
		switch d.What {
		case whatchanged.Phase: // may be, on a busy machine
			continue
		case whatchanged.Certificate:
			d.Before, d.After = d.Before[:0], d.After[:0]
		case whatchanged.Headers:
			d.Before, d.After = "", fmt.Sprint(d.Headers)
		}
		told = append(told, fmt.Sprintf("%s: %s > %s", d.What, strings.ReplaceAll(d.Before, server.URL, ""), strings.ReplaceAll(d.After, server.URL, "")))
	}
	want := []string{
		"failure:  > status_code", "http_status: 200 > 503", "certificate:  > ", "issuer: CN=Old CA > CN=New CA", "expiry: " + soon.Format(time.RFC3339) + " > " + later.Format(time.RFC3339),
		"redirect: /home?session=… > /landing?session=…", "headers:  > [{Content-Type  text/plain; charset=utf-8} {Server nginx caddy}]",
	}
	if !slices.Equal(told, want) || gaps != nil {
		t.Errorf("told\n%s\n%v, want\n%s", strings.Join(told, "\n"), gaps, strings.Join(want, "\n"))
	}
}
