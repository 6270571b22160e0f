package wsconn

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// driven is a server in a bubble with all of its rounds.
func driven(t *testing.T) (*fixture, pipes) {
	t.Helper()
	return pipedTo(t, func(s *Server, ctx context.Context) { _ = s.Run(ctx) })
}

// Whoever is revoked is out within five seconds, also while the question about somebody else gets no
// answer. That one keeps its socket, and no longer than until there is an answer: it is asked about
// again in every round.
func TestAQuestionThatHangsHoldsUpNoRevocation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, at := driven(t)
		var revoked, answers atomic.Bool
		f.server.StillAllowed = func(ctx context.Context, r *http.Request) error {
			if r.Header.Get("Authorization") == "Bearer hangs" && !answers.Load() {
				<-ctx.Done()
				return nil
			}
			if revoked.Load() {
				return errors.New("revoked")
			}
			return nil
		}
		hanging, other := f.socketOf(t, at, "hangs", "checks:x"), f.socketOf(t, at, "other", "checks:x")
		isOut := func(conn *websocket.Conn) {
			t.Helper()
			since := time.Now()
			if code, took := closedWith(conn), time.Since(since); code != closeRevoked || took > 5*time.Second {
				t.Errorf("closed with %d after %v", code, took)
			}
		}
		<-time.After(reauthEvery + time.Millisecond)
		synctest.Wait() // the round has found nothing against the other one, and waits for an answer
		revoked.Store(true)
		isOut(other)
		<-time.After(10 * time.Second)
		synctest.Wait()
		if left := f.server.clients(nil); len(left) != 1 || left[0].closing() != nil {
			t.Errorf("of %d one is being closed: nobody has said that it may not", len(left))
		}
		answers.Store(true)
		isOut(hanging)
	})
}

// Changes are sent at once while the check of who is still allowed gets no answer.
func TestTheFeedGoesOnWhileTheJudgeHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, at := driven(t)
		f.server.StillAllowed = func(ctx context.Context, _ *http.Request) error {
			<-ctx.Done()
			return nil
		}
		conn := f.socket(t, at, "checks:x")
		for until := time.Now().Add(3 * reauthEvery); time.Now().Before(until); <-time.After(reauthEvery / 4) {
			asked := time.Now()
			f.hub.Check("x", asked)
			if got := read(t, conn); got["t"] != "delta" || time.Since(asked) > 0 {
				t.Fatalf("%v after %v", got, time.Since(asked))
			}
		}
	})
}

// Whoever says nothing is asked whether it is there, and may stay as long as it answers; one that
// does not is gone after 35 seconds.
func TestWhoDoesNotAnswerPingsIsEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, at := driven(t)
		begun := time.Now()
		// hears reads until the socket ends, or for as long as it is asked to; pings is when it was pinged.
		hears := func(conn *websocket.Conn, answers bool) (pings []time.Duration, lasted time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			for {
				if _, text, err := conn.Read(ctx); err != nil {
					return pings, time.Since(begun)
				} else if string(text) == `{"t":"ping"}` {
					pings = append(pings, time.Since(begun))
				}
				if answers {
					say(t, conn, `{"t":"pong"}`)
				}
			}
		}
		quiet, mute := f.socket(t, at, "checks:x"), f.socket(t, at, "checks:x")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			pings, lasted := hears(mute, false)
			if len(pings) != 2 || lasted < 35*time.Second || lasted > 37*time.Second {
				t.Errorf("who never answers was pinged at %v and lasted %v", pings, lasted)
			}
		}()
		pings, lasted := hears(quiet, true)
		if len(pings) < 7 || pings[0] < 15*time.Second || pings[0] > 17*time.Second || lasted < 2*time.Minute {
			t.Errorf("who answers was pinged at %v and lasted %v", pings, lasted)
		}
		<-ended
	})
}
