package checkstream

import (
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestServerIsWhatItSays(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		server, err := NewFleet(r).Server(t.Context())
		_, embedded, kindErr := r.Kind(t.Context())
		if err != nil || kindErr != nil || server.Version == "" || embedded != server.Embedded || embedded != (server.Note != "") || embedded && server.Durable {
			t.Fatalf("%+v %v %v", server, err, kindErr)
		}
	})
	if s := serverOf("# Server\r\nredis_version:7.0.15\r\n# Persistence\r\naof_enabled:1\r\n"); s != (Server{Version: "7.0.15", Durable: true}) {
		t.Errorf("%+v", s)
	}
	if s := serverOf("redis_version:7.0.15\r\naof_enabled:0\r\n"); s.Durable {
		t.Errorf("%+v", s)
	}
}

func TestLastTick(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		fleet := NewFleet(r)
		if tick, err := fleet.LastTick(t.Context()); err != nil || !tick.IsZero() {
			t.Fatal(tick, err)
		}
		setTick(t, r, 1_800_000_000)
		if tick, err := fleet.LastTick(t.Context()); err != nil || !tick.Equal(time.Unix(1_800_000_000, 0)) {
			t.Fatal(tick, err)
		}
	})
}

// A health page must not wait for a server that is away, nor forget what it was.
func TestAboutKeepsTheLastAnswer(t *testing.T) {
	t.Parallel()
	server := testbackend.RedisServer(t)
	about := NewAbout(open(t, server.URL()))
	if before := about.Last(); before.Version != "" || before.Note == "" {
		t.Fatalf("%+v", before)
	}
	about.ask(t.Context())
	known := about.Last()
	server.Stop()
	about.ask(t.Context())
	if known.Version == "" || about.Last() != known {
		t.Fatalf("%+v became %+v", known, about.Last())
	}
}

func TestOpenKeepsThePasswordToItself(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://me:s3cret@host:port/0", "http://me:s3cret@host/0", "redis://me:s3cret@host:6379/x", "redis://me:s3cret@ho st:6379/0", "redis://me:s3cret%zz@host:6379"} {
		_, err := Open(url)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
