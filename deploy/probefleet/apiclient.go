package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
)

const (
	lentFor    = 10 * time.Minute
	apiCall    = 15 * time.Second
	maxAnswer  = 16 << 20
	retryAfter = 2 * time.Second // when the API names no time
)

// apiClient talks to the API of an installation.
type apiClient struct {
	base, key string
	http      *http.Client
}

// apiFlags say which installation a command talks to.
type apiFlags struct {
	API string `name:"api" help:"URL of the API, such as https://status.example.com; default that of the installation in --dir."`
	Key string `env:"PROBEFLEET_API_KEY" help:"API key, of a viewer to export and of an editor otherwise; default BOOTSTRAP_API_KEY or, for the installation in --dir, one lent for ten minutes."`
	Dir string `default:"./data" help:"Folder of the installation run by 'probefleet up'."`
}

// connect finds the API and a key for it. One that is lent is named after the command, and may do
// what the role may.
func (c *apiFlags) connect(ctx context.Context, command string, role accountstore.Role) (*apiClient, error) {
	env, err := readEnvironment()
	if err != nil {
		return nil, err
	}
	api := &apiClient{base: strings.TrimRight(c.API, "/"), key: cmp.Or(c.Key, env.BootstrapKey.Reveal()), http: &http.Client{Timeout: apiCall}}
	if api.base != "" {
		if api.key == "" {
			return nil, errors.New("no API key is known: set PROBEFLEET_API_KEY, or give --key")
		}
		return api, nil
	}
	running, err := readRunFile(c.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("no installation runs in %s: name its folder with --dir, or its API with --api", c.Dir)
	}
	if err != nil {
		return nil, err
	}
	api.base = strings.TrimRight(running.URL, "/")
	if api.key == "" {
		api.key, err = lendKey(ctx, running.DatabaseURL, "probefleet "+command, role)
	}
	return api, err
}

// lendKey makes a short-lived key in the database of an installation: whoever may read its
// run.json may do so.
func lendKey(ctx context.Context, databaseURL, name string, role accountstore.Role) (string, error) {
	db, err := database.Open(ctx, databaseURL)
	if err != nil {
		return "", fmt.Errorf("lend an API key (or give one with --key): %w", err)
	}
	defer db.Close()
	key := "pf_" + rand.Text()
	err = accountstore.New(db).LendKey(ctx, name, key[:6], hashOf(key), role, time.Now().Add(lentFor))
	return key, err
}

// hashOf is how the API looks keys up.
func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func (a *apiClient) get(ctx context.Context, path string) (json.RawMessage, error) {
	return a.call(ctx, http.MethodGet, path, nil)
}

func (a *apiClient) post(ctx context.Context, path string, body any) (json.RawMessage, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return a.call(ctx, http.MethodPost, path, encoded)
}

// call repeats what the API answers with "come back later", until ctx ends.
func (a *apiClient) call(ctx context.Context, method, path string, body []byte) (json.RawMessage, error) {
	for {
		answer, wait, err := a.once(ctx, method, path, body)
		if wait == 0 || !sleep(ctx, wait) {
			return answer, err
		}
	}
}

// once gives an answer, or an error and, when trying again may help, after how long.
func (a *apiClient) once(ctx context.Context, method, path string, body []byte) (answer json.RawMessage, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, 0, fmt.Errorf("--api: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+a.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := a.http.Do(request)
	if err != nil {
		return nil, 0, fmt.Errorf("the API does not answer: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, 0, fmt.Errorf("the API's answer: %w", err)
	}
	if response.StatusCode < 300 {
		return text, 0, nil
	}
	wait = comeBack(response)
	return nil, wait, refusal(response.StatusCode, text)
}

// comeBack says after how long the API may have an answer; 0: it has given one.
func comeBack(response *http.Response) time.Duration {
	if response.StatusCode != http.StatusServiceUnavailable && response.StatusCode != http.StatusTooManyRequests {
		return 0
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return retryAfter
}

// stream hands over an answer as it comes. It repeats as call does, gives up when nothing has come
// for as long as stall, and begins nothing anew once use was called.
func (a *apiClient) stream(ctx context.Context, method, path string, body []byte, stall time.Duration, use func(io.Reader) error) error {
	for {
		wait, err := a.streamOnce(ctx, method, path, body, stall, use)
		if wait == 0 || !sleep(ctx, wait) {
			return err
		}
	}
}

func (a *apiClient) streamOnce(ctx context.Context, method, path string, body []byte, stall time.Duration, use func(io.Reader) error) (wait time.Duration, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(stall, func() { cancel(errors.New("nothing arrived for " + stall.String())) })
	defer stalled.Stop()
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("--api: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+a.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		return 0, fmt.Errorf("the API does not answer: %w", orCause(ctx, err))
	}
	defer response.Body.Close()
	answer := &alive{response.Body, stalled, stall}
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(answer, maxAnswer))
		if err != nil {
			return 0, fmt.Errorf("the API's answer: %w", orCause(ctx, err))
		}
		return comeBack(response), refusal(response.StatusCode, text)
	}
	return 0, orCause(ctx, use(answer))
}

// refusal says what the API has against a request.
func refusal(status int, text []byte) error {
	var problem struct {
		Detail string `json:"detail"`
		Errors []struct {
			Pointer string `json:"pointer"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(text, &problem) != nil || problem.Detail == "" {
		return fmt.Errorf("the API answers %d %s: is this the URL of a Probefleet?", status, http.StatusText(status))
	}
	if len(problem.Errors) > 1 {
		lines := make([]string, len(problem.Errors))
		for i, e := range problem.Errors {
			lines[i] = strings.TrimPrefix(plain(e.Pointer)+": ", ": ") + plain(e.Message)
		}
		return errors.New(strings.Join(lines, "\n"))
	}
	return errors.New(plain(problem.Detail))
}
