package checkstream

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const silentChild = "CHECKSTREAM_ASK_NOBODY"

// askNobody is a program that cannot reach Redis: through Open, or without it.
func askNobody(how string) int {
	const nobody = "redis://127.0.0.1:1"
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if how == "opened" {
		r, err := Open(nobody)
		if err != nil {
			return 2
		}
		_, err = r.Now(ctx)
		return exitOf(err)
	}
	options, err := redis.ParseURL(nobody)
	if err != nil {
		return 2
	}
	return exitOf(redis.NewClient(options).Ping(ctx).Err())
}

func exitOf(err error) int {
	if err == nil {
		return 3
	}
	return 0
}

// A driver that writes to stderr itself blocks with it, past every logger.
func TestDriverWritesNothingToStderr(t *testing.T) {
	t.Parallel()
	for how, silent := range map[string]bool{"opened": true, "plain": false} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			var written strings.Builder
			child := exec.CommandContext(t.Context(), os.Args[0])
			child.Env = append(os.Environ(), silentChild+"="+how)
			child.Stderr, child.Stdout = &written, &written
			if err := child.Run(); err != nil || (written.Len() == 0) != silent {
				t.Fatalf("%v, wrote %q", err, written.String())
			}
		})
	}
}
