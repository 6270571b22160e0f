package checkstream

import (
	"testing"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func BenchmarkPublishReadAck(b *testing.B) {
	for name, url := range map[string]func() string{
		"redis":    func() string { return testbackend.Redis(b) },
		"embedded": func() string { _, url := testbackend.Miniredis(b); return url },
	} {
		b.Run(name, func(b *testing.B) {
			r, err := Open(url())
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			ctx, p, c := b.Context(), NewPublisher(r), NewConsumer(r, "eu", "p")
			if err := c.EnsureGroup(ctx); err != nil {
				b.Fatal(err)
			}
			second := int64(1_700_000_000)
			if err := r.commands.HSet(ctx, keyClock, "tick", second-1).Err(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := p.Publish(ctx, Chunk{Second: second, Seq: 1, Checks: checks(second, 1, MaxChunk), Last: true}); err != nil {
					b.Fatal(err)
				}
				entries, err := c.Read(ctx, MaxChunk, 0)
				if err != nil || len(entries) != MaxChunk {
					b.Fatal(len(entries), err)
				}
				if err := c.Ack(ctx, idsOf(entries)); err != nil {
					b.Fatal(err)
				}
				if _, err := p.Trim(ctx); err != nil {
					b.Fatal(err)
				}
				second++
			}
			b.ReportMetric(float64(b.N*MaxChunk)/b.Elapsed().Seconds(), "checks/s")
		})
	}
}

func BenchmarkDecodeEntry(b *testing.B) {
	body, _, err := encodeCheck(check(1_700_000_000, 42))
	if err != nil {
		b.Fatal(err)
	}
	entry := fields{"v", versionPlain, "c", body}
	for b.Loop() {
		if e := newEntry("1700000000000-42", 1, entry); e.Err != nil {
			b.Fatal(e.Err)
		}
	}
}
