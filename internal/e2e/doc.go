// Package e2e runs the real programs, as a person would, and judges them from
// outside: by their API, their files and an audit of the databases that shares
// no code with the pipeline.
//
//	go test ./internal/e2e                  one installation from start to restart
//	go test -tags load ./internal/e2e       sustained load, figures into docs/load.json
//	go test -tags faults ./internal/e2e     restarts and changes under load
//	go test -tags browser ./internal/e2e    the pages in a real Chromium
//	go test -tags bench ./internal/e2e      how fast they are there, figures into docs/bench-web.json
package e2e
