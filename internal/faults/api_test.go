package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// call asks the API with the owner's key; status 0 means that it is away.
func (r *rig) call(method, path string, body, answer any) int {
	r.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, r.api.url+path, bytes.NewReader(encoded))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+apiKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0
	}
	if answer != nil && response.StatusCode < 300 {
		if err := json.Unmarshal(text, answer); err != nil {
			r.t.Fatalf("%s %s: %d %s", method, path, response.StatusCode, text)
		}
	}
	return response.StatusCode
}

// create adds n targets of the lab, each at a path of its own.
func (r *rig) create(n, intervalS int) []int64 {
	r.t.Helper()
	ids, next := make([]int64, n), make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range 8 {
		wait.Go(func() {
			for i := range next {
				var made struct{ ID int64 }
				url := fmt.Sprintf("%s/n/%d", r.lab.URL(), i)
				if status := r.call("POST", "/api/v1/targets", map[string]any{"name": fmt.Sprintf("t%d-%d", time.Now().UnixNano(), i), "url": url, "interval_s": intervalS}, &made); status != http.StatusCreated {
					mu.Lock()
					refused = status
					mu.Unlock()
				}
				ids[i] = made.ID
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
	if refused != 0 {
		r.t.Fatalf("a target was refused: %d", refused)
	}
	return ids
}
