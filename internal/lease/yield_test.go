package lease

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A holder that cannot do the job makes room: another one works within the time of a
// crash, and the first is a standby again afterwards.
func TestYieldLetsAnotherWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		one, two := newLease(&client{s: s, name: "one"}, quiet()), newLease(&client{s: s, name: "two"}, quiet())
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- one.Run(ctx) }()
		tick(t, time.Second, one)
		go func() { ended <- two.Run(ctx) }()
		tick(t, 5*time.Second, one, two)
		if !one.Held() || two.Held() {
			t.Fatal("the test has lost its point")
		}
		one.Yield(10 * time.Second)
		if one.Held() {
			t.Error("still held")
		}
		tick(t, 8*time.Second, one, two)
		if !two.Held() {
			t.Error("nobody took over")
		}
		tick(t, 20*time.Second, one, two)
		if !two.Held() || one.Held() {
			t.Error("the one at work was disturbed")
		}
		stop()
		<-ended
		<-ended
	})
}
