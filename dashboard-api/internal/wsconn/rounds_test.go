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

// Who could not be asked about keeps its socket, and no longer than until it can be: it is asked
// about again in every round.
func TestAQuestionThatHungIsAskedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, at := driven(t)
		var answers atomic.Bool
		f.server.StillAllowed = func(ctx context.Context, _ *http.Request) error {
			if answers.Load() {
				return errors.New("revoked")
			}
			<-ctx.Done()
			return nil
		}
		conn := f.socket(t, at, "checks:x")
		<-time.After(20 * time.Second)
		synctest.Wait()
		if left := f.server.clients(nil); len(left) != 1 || left[0].closing() != nil {
			t.Error("it is being closed: nobody has said that it may not")
		}
		answers.Store(true)
		asked := time.Now()
		if code, took := closedWith(conn), time.Since(asked); code != closeRevoked || took > 5*time.Second {
			t.Errorf("closed with %d after %v", code, took)
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
