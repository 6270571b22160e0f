package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A store that ends is back at once; one that cannot start, or does not last, is
// tried again every storeRetry and not faster.
func TestStoresAreKeptWithoutHurry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		var starts []time.Duration
		first := make(chan struct{})
		time.AfterFunc(10*time.Second, func() { close(first) })
		keepStore(ctx, first, func() (<-chan struct{}, error) {
			starts = append(starts, time.Since(begin))
			next := make(chan struct{})
			switch len(starts) {
			case 1:
				return nil, errors.New("disk full")
			case 2:
				close(next) // does not last
			case 3:
				time.AfterFunc(10*time.Second, func() { close(next) })
			}
			return next, nil
		}, slog.New(slog.DiscardHandler), func() {})
		want := []time.Duration{10 * time.Second, 12 * time.Second, 14 * time.Second, 24 * time.Second}
		if !slices.Equal(starts, want) {
			t.Errorf("started at %v, want %v", starts, want)
		}
	})
}
