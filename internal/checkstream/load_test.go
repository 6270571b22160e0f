package checkstream

import (
	"math"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestLoadOfARegion(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		eu, _ := consumer(r, "eu", "p1")
		if load, err := eu.Load(t.Context()); err == nil {
			t.Errorf("there is no group, and its load is %+v", load)
		}
		us, _ := consumer(r, "us", "p2")
		must(t, eu.EnsureGroup(t.Context()))
		must(t, us.EnsureGroup(t.Context()))
		load, err := eu.Load(t.Context())
		must(t, err)
		if load.Lag != 0 || !math.IsNaN(load.Depth) {
			t.Errorf("nothing was ever published: %+v", load)
		}

		second := redisNow(t, r) - 20
		setTick(t, r, second-1)
		p := NewPublisher(r)
		for at := second; at < second+2; at++ {
			if _, err := p.Publish(t.Context(), Chunk{Second: at, Seq: 1, Checks: checks(at, 1, 30), Last: true, BacklogMax: 80}); err != nil {
				t.Fatal(err)
			}
		}
		lags := func(c *Consumer, least, most time.Duration) {
			t.Helper()
			load, err := c.Load(t.Context())
			must(t, err)
			if load.Lag < least || load.Lag > most || load.Depth != 60.0/80 {
				t.Errorf("%+v", load)
			}
		}
		lags(eu, 19*time.Second, time.Minute)
		_, err = eu.Read(t.Context(), 30, 0) // the first second
		must(t, err)
		lags(eu, 18*time.Second, time.Minute-time.Second)
		readAll(t, eu)
		lags(eu, 0, 0) // given out is not waiting, however long it takes
		lags(us, 19*time.Second, time.Minute)

		_, err = p.Publish(t.Context(), Chunk{Second: second + 2, Seq: 1, Checks: checks(second+2, 1, 9), Last: true, BacklogMax: 50})
		if err == nil {
			t.Fatal("the stream was not full")
		}
		if load, err := eu.Load(t.Context()); err != nil || load.Depth != 60.0/50 {
			t.Errorf("a full stream: %+v %v", load, err)
		}
	})
}

func TestLoadOfTheServersMemory(t *testing.T) {
	t.Parallel()
	real, _ := consumer(open(t, testbackend.Redis(t)), "eu", "p1")
	must(t, real.EnsureGroup(t.Context()))
	if load, err := real.Load(t.Context()); err != nil || !(load.Memory > 0 && load.Memory < 1) {
		t.Errorf("%+v %v", load, err)
	}
	_, url := testbackend.Miniredis(t)
	embedded, _ := consumer(open(t, url), "eu", "p1")
	must(t, embedded.EnsureGroup(t.Context()))
	if load, err := embedded.Load(t.Context()); err != nil || !math.IsNaN(load.Memory) {
		t.Errorf("%+v %v", load, err)
	}
	for info, want := range map[string]float64{
		"# Memory\r\nused_memory:300\r\nused_memory_rss:999\r\ntotal_system_memory:3000\r\nmaxmemory:400\r\n": .75,
		"used_memory:300\r\ntotal_system_memory:3000\r\nmaxmemory:0\r\n":                                      .1,
	} {
		if got := memoryShare(info); got != want {
			t.Errorf("%q: %v", info, got)
		}
	}
	for _, info := range []string{"", "used_memory:300\r\nmaxmemory:0\r\n", "used_memory:300\r\n", "maxmemory:5\r\n", "used_memory:x\r\nmaxmemory:5\r\n"} {
		if got := memoryShare(info); !math.IsNaN(got) {
			t.Errorf("%q: %v", info, got)
		}
	}
}
