package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// vitestReport is what is read of vitest's report in JSON.
type vitestReport struct {
	TestResults []struct {
		Name             string `json:"name"`
		Status           string `json:"status"`
		Message          string `json:"message"`
		AssertionResults []struct {
			FullName        string   `json:"fullName"`
			Status          string   `json:"status"`
			FailureMessages []string `json:"failureMessages"`
		} `json:"assertionResults"`
	} `json:"testResults"`
}

// vitest runs the dashboard's unit tests and counts each.
func (r *stageRun) vitest(ctx context.Context, dir string) {
	path := filepath.Join(r.temp, "vitest.json")
	cmd := r.program(ctx, dir, "npx", "--no-install", "vitest", "run", "--reporter=json", "--outputFile="+path)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	runErr := cmd.Run()
	var report vitestReport
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &report)
	}
	if err != nil {
		r.fail("vitest", output.String()+err.Error())
		return
	}
	failed := r.failed
	for _, file := range report.TestResults {
		for _, one := range file.AssertionResults {
			switch one.Status {
			case "passed":
				r.pass()
			case "failed":
				r.fail(filepath.Base(file.Name)+": "+one.FullName, strings.Join(one.FailureMessages, "\n"))
			default:
				r.skip()
			}
		}
		if file.Status == "failed" && len(file.AssertionResults) == 0 { // it could not be loaded
			r.fail(file.Name, file.Message)
		}
	}
	if runErr != nil && r.failed == failed {
		r.fail("vitest", output.String()+runErr.Error())
	}
}
