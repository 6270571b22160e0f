package main

import (
	"context"
	"fmt"
	"strings"
)

// packages are those with tests, by the level of their tests, slowest first.
type packages struct {
	unit        []string // need no server
	integration []string // start servers, or use those of the run
}

const (
	endToEnd = module + "internal/e2e"    // the real programs together
	faults   = module + "internal/faults" // and what breaks them
)

// helpers are packages that start servers: whose tests import one of them is no unit test.
func helpers() []string {
	return []string{"internal/testbackend", "internal/database/databasetest", "internal/testfleet", "internal/testhistory"}
}

func (s *suite) packages(ctx context.Context, patterns ...string) (p packages, err error) {
	const format = `{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}`
	args := append([]string{"go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}" + format + "{{end}}"}, patterns...)
	cmd := s.program(ctx, "", args...)
	out, err := cmd.Output()
	if err != nil {
		return p, fmt.Errorf("list the packages: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == endToEnd || fields[0] == faults {
			continue
		}
		// deploy/embedded starts servers without the helpers: it is what they are made of.
		if startsServers(fields[1:]) || fields[0] == module+"deploy/embedded" {
			p.integration = append(p.integration, "./"+strings.TrimPrefix(fields[0], module))
		} else {
			p.unit = append(p.unit, "./"+strings.TrimPrefix(fields[0], module))
		}
	}
	s.timings.slowestFirst("unit", p.unit)
	s.timings.slowestFirst("integration", p.integration)
	return p, nil
}

func startsServers(imports []string) bool {
	for _, imported := range imports {
		for _, helper := range helpers() {
			if imported == module+helper {
				return true
			}
		}
	}
	return false
}
