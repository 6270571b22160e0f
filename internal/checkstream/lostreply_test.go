package checkstream

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/testbackend"
)

// cutter is a proxy that can swallow a reply: the request arrives and is carried out,
// the connection ends, and the client cannot know.
type cutter struct {
	url   string
	cuts  atomic.Int64 // replies still to swallow
	conns []net.Conn   // of the accepting goroutine, until it ends
}

func newCutter(t *testing.T, target string) *cutter {
	t.Helper()
	to, err := url.Parse(target)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := &cutter{}
	server := to.Host
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			c.serve(client, server)
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		accepting.Wait()
		for _, conn := range c.conns {
			_ = conn.Close()
		}
	})
	to.Host = listener.Addr().String()
	c.url = to.String()
	return c
}

func (c *cutter) serve(client net.Conn, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		_ = client.Close()
		return
	}
	c.conns = append(c.conns, client, server)
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	go c.replies(client, server)
}

func (c *cutter) replies(client, server net.Conn) {
	defer client.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		if c.cuts.Load() > 0 {
			c.cuts.Add(-1)
			for err == nil { // all of the reply, so that all of the request is carried out
				_ = server.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
				_, err = server.Read(buffer)
			}
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// Regression, the re-sent pipeline: after a lost reply go-redis sends a plain
// pipeline again and says nothing.
func TestLostReplyDuplicatesAPipelineButNotOurs(t *testing.T) {
	t.Parallel()
	direct := testbackend.Redis(t)
	proxy := newCutter(t, direct)
	r, behind := open(t, direct), open(t, proxy.url)
	ctx := t.Context()

	options, err := redis.ParseURL(proxy.url)
	must(t, err)
	options.PoolSize = 1
	naive := redis.NewClient(options)
	t.Cleanup(func() { _ = naive.Close() })
	_, err = naive.Pipelined(ctx, func(pipe redis.Pipeliner) error { pipe.Ping(ctx); return nil })
	must(t, err) // pipelines have connections of their own
	proxy.cuts.Store(1)
	_, err = naive.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := range 250 {
			pipe.XAdd(ctx, &redis.XAddArgs{Stream: "naive", Values: []any{"target", i}})
		}
		return nil
	})
	must(t, err)
	if n, err := r.commands.XLen(ctx, "naive").Result(); err != nil || n != 500 {
		t.Fatalf("a plain pipeline left %d entries: %v", n, err)
	}

	p := NewPublisher(behind)
	second := redisNow(t, r)
	setTick(t, r, second-2)
	publish(t, p, second-1, checks(second-1, 1, 1)) // the script is known, a connection is open
	for i, lost := range []int64{1, 2} {
		from := int64(i)*250 + 1
		proxy.cuts.Store(lost)
		added, err := p.Publish(ctx, Chunk{Second: second, Seq: 1, Checks: checks(second, from, from+249), Last: i == 1})
		if err != nil || added != 250 {
			t.Fatalf("%d replies lost: added %d, %v", lost, added, err)
		}
	}
	if n := length(t, r); n != 501 {
		t.Fatalf("%d entries, want 501", n)
	}
	if clock, err := p.Clock(ctx); err != nil || clock.Tick != second {
		t.Fatalf("%+v %v", clock, err)
	}
	proxy.cuts.Store(1)
	must(t, p.Skip(ctx, 1, second+1))
	// More losses than we try: an error, and nothing twice.
	proxy.cuts.Store(3)
	if _, err := p.Publish(ctx, Chunk{Second: second + 2, Seq: 1, Checks: checks(second+2, 1, 10), Last: true}); err == nil {
		t.Fatal("no error without an answer")
	}
	if clock, err := p.Clock(ctx); err != nil || clock.Tick != second+2 || clock.Backlog != 511 {
		t.Fatalf("%+v %v", clock, err)
	}
}

// What Redis delivers in a reply that gets lost is pending in our name, and unknown to us.
func TestLostDeliveryIsFound(t *testing.T) {
	t.Parallel()
	direct := testbackend.Redis(t)
	proxy := newCutter(t, direct)
	r, behind := open(t, direct), open(t, proxy.url)
	ctx, p := t.Context(), NewPublisher(r)
	must(t, p.EnsureGroups(ctx, []string{"eu"}))
	second := redisNow(t, r)
	setTick(t, r, second-1)
	publish(t, p, second, checks(second, 1, 30))
	c, clock := consumer(behind, "eu", "p1")
	held, err := c.Read(ctx, 10, 0)
	if err != nil || len(held) != 10 {
		t.Fatal(len(held), err)
	}
	proxy.cuts.Store(1)
	if lost, err := c.Read(ctx, 20, 0); err == nil {
		t.Fatalf("read %d in spite of it", len(lost))
	}
	if n := pending(t, r, "eu"); n != 30 {
		t.Fatalf("the request was not carried out: %d pending", n)
	}
	age(t, r, "eu", "p1", entryIDs(second, 1, 30), 20*time.Second)
	if early, err := c.Reclaim(ctx, time.Hour, Room{100, 100}); err != nil || len(early) > 0 {
		t.Fatalf("%d %v", len(early), err)
	}
	clock.advance(orphanIdle + time.Second)
	found, err := c.Reclaim(ctx, time.Hour, Room{100, 100})
	if err != nil || len(found) != 20 || found[0].TargetID != 11 {
		t.Fatalf("%d of 20 found, %v", len(found), err)
	}
	if again, err := c.Reclaim(ctx, time.Hour, Room{100, 100}); err != nil || len(again) > 0 {
		t.Fatalf("%d again, %v", len(again), err)
	}
}

func entryIDs(second, from, to int64) []string {
	var ids []string
	for id := from; id <= to; id++ {
		ids = append(ids, entryID(second, id))
	}
	return ids
}

func TestCloseAbortsABlockedRead(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		c, _ := consumer(r, "eu", "p1")
		must(t, c.EnsureGroup(t.Context()))
		ended := make(chan error, 1)
		go func() {
			var err error
			for err == nil {
				_, err = c.Read(t.Context(), 1, MaxBlock)
			}
			ended <- err
		}()
		must(t, r.Close())
		select {
		case <-ended:
		case <-time.After(2 * time.Minute):
			t.Fatal("still reading")
		}
	})
}
