package wsconn

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/coder/websocket"
)

// However many readers of public pages there are, a quarter of the places is left for accounts.
func TestAnybodyLeavesPlacesForAccounts(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.server.Most = 8
	anybody := f.server.Only("page:main", func(context.Context, *http.Request) error { return nil }, func() {})
	f.http.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			anybody.ServeHTTP(w, r)
			return
		}
		f.server.ServeHTTP(w, r)
	})
	dial := func(header http.Header) (*websocket.Conn, int) {
		t.Helper()
		conn, answer, err := websocket.Dial(t.Context(), f.http.URL, &websocket.DialOptions{Subprotocols: []string{Subprotocol}, HTTPHeader: header})
		if err != nil && answer == nil {
			t.Fatal(err)
		}
		if err == nil {
			t.Cleanup(func() { _ = conn.CloseNow() })
		}
		return conn, answer.StatusCode
	}
	public, account := http.Header{"Origin": {f.http.URL}}, http.Header{"Authorization": {"Bearer x"}}
	var last *websocket.Conn
	for n := range 6 {
		var code int
		if last, code = dial(public); code != http.StatusSwitchingProtocols {
			t.Fatalf("reader %d of a page: %d", n+1, code)
		}
	}
	if _, code := dial(public); code != http.StatusServiceUnavailable {
		t.Errorf("a reader more: %d", code)
	}
	for n := range 2 {
		if _, code := dial(account); code != http.StatusSwitchingProtocols {
			t.Errorf("account %d: %d", n+1, code)
		}
	}
	if _, code := dial(account); code != http.StatusServiceUnavailable {
		t.Errorf("where all places are taken: %d", code)
	}
	_ = last.CloseNow()
	soon(t, "the place that a reader has left", func() bool { _, code := dial(public); return code == http.StatusSwitchingProtocols })
}

// A socket has so many channels and no more; one that is refused leaves nothing behind, and one
// that is given up is a place for another.
func TestChannelsOfASocketAreBounded(t *testing.T) {
	t.Parallel()
	f := start(t)
	conn := f.dial(t)
	sub := func(channel string) any {
		t.Helper()
		say(t, conn, `{"t":"sub","id":"`+channel+`","ch":"`+channel+`"}`)
		got := readOn(t, conn)
		if got["id"] != channel {
			t.Fatalf("%s: %v", channel, got)
		}
		if got["t"] == "err" {
			return got["code"]
		}
		return got["t"]
	}
	for n := range 64 {
		if got := sub(fmt.Sprint("page:p", n)); got != "ok" {
			t.Fatalf("the %dth: %v", n+1, got)
		}
	}
	if got := sub("page:more"); got != "too_many_channels" {
		t.Errorf("one more: %v", got)
	}
	if heard := f.hub.Heard(); len(heard) != 64 || heard["more"] {
		t.Errorf("%d are heard, of them the one that was refused: %v", len(heard), heard["more"])
	}
	if got := sub("page:p0"); got != "ok" {
		t.Errorf("one of them once more: %v", got)
	}
	say(t, conn, `{"t":"unsub","ch":"page:p0"}`)
	if got := sub("page:more"); got != "ok" {
		t.Errorf("in place of another: %v", got)
	}
	if heard := f.hub.Heard(); len(heard) != 64 || heard["p0"] || !heard["more"] {
		t.Errorf("%d are heard: p0 %v, more %v", len(heard), heard["p0"], heard["more"])
	}
}
