package main

import (
	"testing"

	"github.com/probefleet/probefleet/internal/service"
)

func TestVersionIsACommandToo(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"version", "--version"} {
		if code, out, errOut := probefleet(arg); code != 0 || out != service.Version()+"\n" || errOut != "" {
			t.Errorf("%s: %d %q %q", arg, code, out, errOut)
		}
	}
}
