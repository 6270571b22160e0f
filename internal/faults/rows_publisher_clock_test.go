package faults

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// redisClockJumps runs Redis with a clock that can be moved, sets it an hour ahead
// for the outage, and back.
func redisClockJumps(r *rig, t *trial) {
	set := movableClock(t)
	r.redis.stop(t)
	r.redis.start(t) // by way of the clock that can be moved
	defer r.redis.kill()
	t.awaitWell(time.Minute)
	redis := t.console()
	_, newest := redis.stream()
	ascending := func() {
		if _, now := redis.stream(); !atOrAfter(now, newest) {
			t.Errorf("the newest id went from %s back to %s", newest, now)
		} else {
			newest = now
		}
	}
	t.inject()
	set(time.Hour)
	t.await(10*time.Second, "a publisher says that the clocks disagree", func() bool {
		for _, p := range r.publishers {
			if _, reasons := p.health(); strings.Contains(strings.Join(reasons, " "), "disagree on the time") {
				return true
			}
		}
		return false
	})
	paused, _ := redis.stream()
	for until := t.injected.Add(t.outage); time.Now().Before(until); t.wait(time.Second) {
		ascending()
	}
	if now, _ := redis.stream(); now != paused {
		t.Errorf("%d checks were published by the wrong clock", now-paused)
	}
	set(0)
	t.mended()
	limit := 5 * time.Second
	if t.number%2 == 1 { // whoever had the lease by the wrong clock is gone
		limit = 8 * time.Second
		for _, p := range r.publishers[:2] {
			p.kill()
		}
	}
	t.recoveredAt(t.firstCheck(t.injected.Add(time.Second), time.Minute), limit)
	t.awaitEveryRow(t.injected, 90*time.Second)
	ascending()
	t.caughtUp()
}

// movableClock puts a redis-server on PATH whose wall clock is what set says it is.
// Only a row of `make faults` may: tests that run side by side share PATH.
func movableClock(t *trial) (set func(ahead time.Duration)) {
	t.Helper()
	dir := t.TempDir()
	source, library, offset := filepath.Join(dir, "clock.c"), filepath.Join(dir, "clock.so"), filepath.Join(dir, "offset")
	write := func(path string, content []byte, mode os.FileMode) {
		if err := os.WriteFile(path, content, mode); err != nil {
			t.Fatalf("%v", err)
		}
	}
	write(source, []byte(clockSource), 0o600)
	if out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-O2", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("the C compiler that the race detector needs: %v: %s", err, out)
	}
	write(offset, make([]byte, 8), 0o600)
	set = func(ahead time.Duration) { // in place: Redis has it mapped
		file, err := os.OpenFile(offset, os.O_WRONLY, 0)
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer file.Close()
		if _, err := file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead/time.Second)), 0); err != nil {
			t.Fatalf("%v", err)
		}
	}
	path := os.Getenv("PATH")
	write(filepath.Join(dir, "redis-server"), fmt.Appendf(nil, "#!/bin/sh\nPATH='%s'\nCLOCK_OFFSET='%s' LD_PRELOAD='%s' exec redis-server \"$@\"\n", path, offset, library), 0o700)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
	return set
}

// clockSource adds the seconds in a file to what the wall clock of a process says.
// (libfaketime does not work with the allocator of redis-server.)
const clockSource = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead;

static int64_t seconds(void) {
	if (!ahead) {
		const char *path = getenv("CLOCK_OFFSET");
		int fd = path ? open(path, O_RDONLY) : -1;
		if (fd < 0) return 0;
		void *at = mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
		if (at == MAP_FAILED) return 0;
		ahead = at;
	}
	return *ahead;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
	int failed = syscall(SYS_clock_gettime, clock, now);
	if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += seconds();
	return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
	struct timespec exact;
	if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
	now->tv_sec = exact.tv_sec;
	now->tv_usec = exact.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *now) {
	struct timespec exact;
	clock_gettime(CLOCK_REALTIME, &exact);
	if (now) *now = exact.tv_sec;
	return exact.tv_sec;
}
`
