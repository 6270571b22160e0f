package supervisor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// asked is what became of each question: how long it took (longer than the patience
// when the asking process itself was frozen) and whether there was an answer.
type asked struct {
	took time.Duration
	ok   bool
}

func TestWatchKillsWhatWentSilent(t *testing.T) {
	t.Parallel()
	yes, silent, refused := asked{0, true}, asked{askPatience, false}, asked{0, false}
	for name, c := range map[string]struct {
		answers []asked // the last goes on
		killed  time.Duration
	}{
		"always there":                        {[]asked{yes}, 0},
		"slow but there":                      {[]asked{{2900 * time.Millisecond, true}}, 0},
		"wedged after its first answer":       {[]asked{yes, silent}, 20 * time.Second},
		"its port is gone":                    {[]asked{yes, refused}, 20 * time.Second},
		"wedged again and again, not for 15s": {[]asked{yes, silent, silent, silent, silent, yes, silent, silent, silent, silent, yes}, 0},
		"starts slowly":                       {append(make([]asked, 28), yes), 0},
		"never there":                         {[]asked{refused}, startPatience + 5*time.Second},
		"we were frozen for a minute":         {[]asked{yes, {time.Minute, false}, yes}, 0},
		"we were frozen while it was silent":  {[]asked{yes, silent, silent, silent, silent, {time.Minute, false}, silent, yes}, 0},
		"frozen, and it stays silent":         {[]asked{yes, {time.Minute, false}, silent}, time.Minute + 20*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start, n := time.Now(), -1
				var killed time.Duration
				w := &watch{patience: silentAfter, kill: func(time.Duration) { killed = time.Since(start) }, ask: func(context.Context) bool {
					n = min(n+1, len(c.answers)-1)
					time.Sleep(c.answers[n].took) // of the bubble's clock; deaf to its context, as a frozen process is
					return c.answers[n].ok
				}}
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				w.run(ctx)
				if (killed > 0) != (c.killed > 0) || killed > c.killed || c.killed > 0 && killed < c.killed-6*time.Second {
					t.Errorf("killed after %v, want %v at most and hardly earlier", killed, c.killed)
				}
			})
		})
	}
}
