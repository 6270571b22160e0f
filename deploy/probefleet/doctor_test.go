package main

import (
	"strings"
	"testing"
	"time"
)

func TestJudgeRedis(t *testing.T) {
	t.Parallel()
	good := "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n"
	for _, c := range []struct{ name, version, info, want string }{
		{"good", "7.0.15", good, ""},
		{"evicting", "7.0.15", strings.Replace(good, "noeviction", "allkeys-lru", 1), "fail redis maxmemory-policy is allkeys-lru"},
		{"no aof", "7.0.15", strings.Replace(good, "aof_enabled:1", "aof_enabled:0", 1), "warn redis AOF is off"},
		{"old", "6.2.1", good, "fail redis 6.2.1 is too old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bad := ""
			for _, f := range judgeRedis(c.version, c.info) {
				if f.level != "pass" {
					bad += f.level + " " + f.what
					if f.fix == "" {
						t.Errorf("%q has no fix", f.what)
					}
				}
			}
			if (c.want == "") != (bad == "") || !strings.HasPrefix(bad, c.want) {
				t.Errorf("got %q, want %q", bad, c.want)
			}
		})
	}
}

func TestCheckClock(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for skew, want := range map[time.Duration]string{0: "pass", 3 * time.Second: "warn", -31 * time.Second: "fail"} {
		if got := checkClock(now.Add(skew), now, now); got.level != want {
			t.Errorf("%v: %s", skew, got.level)
		}
	}
}
