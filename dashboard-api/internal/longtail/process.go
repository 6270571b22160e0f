package longtail

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/probefleet/probefleet/internal/guard"
)

const (
	sentBytes   = 64 << 10
	answerBytes = 16 << 10
	requests    = 20 // of one message: signing in, rooms, …
)

var (
	errRedirect = errors.New("redirects are not followed")
	errLong     = fmt.Errorf("a body of more than %d bytes", sentBytes)
	errMany     = errors.New("too many requests for one message")
)

// MaybeRunChild sends a message, if that is what this process was started for; args are those of
// the process. It has to be called first by every main whose program a Sender starts.
func MaybeRunChild(args []string) (code int, ran bool) {
	if len(args) != 2 || args[1] != Argument {
		return 0, false
	}
	if err := child(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// child sends the message that it reads, and writes how that went. It changes the default
// transport of the process for good.
func child(in io.Reader, out io.Writer) error {
	var w work
	if err := json.NewDecoder(in).Decode(&w); err != nil {
		return err
	}
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: -1, ControlContext: guard.New(w.Allow).Control}
	noted := &transport{endpoints: w.Endpoints, base: &http.Transport{
		Proxy: nil, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: 15 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}}
	http.DefaultTransport = noted
	done := Outcome{}
	if err := send(w.Order); err != nil {
		done.Trouble = err.Error()
	}
	done.Exchanges = noted.all
	if len(noted.all) == 0 && done.Trouble == "" {
		done.Trouble = "the service sent nothing"
	}
	return json.NewEncoder(out).Encode(done)
}

func send(o Order) (err error) {
	defer func() { // of the library
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the service's part failed: %v", cause)
		}
	}()
	u, known, err := read(o.Address)
	if err != nil {
		return err
	}
	made := known.build()
	if err := made.Initialize(u, quiet{}); err != nil {
		return err
	}
	params, text := types.Params{}, o.Title+"\n"+o.Text
	if known.titled {
		params.SetTitle(o.Title)
		text = o.Text
	}
	return made.Send(text, &params)
}

// transport is the way out of the process.
type transport struct {
	base      http.RoundTripper
	endpoints map[string]string

	mu  sync.Mutex
	all []Exchange
}

// RoundTrip makes a request, and notes it.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	e := Exchange{Method: r.Method, URL: r.URL.String()}
	began := time.Now()
	response, err := t.trip(r, &e)
	e.Took = time.Since(began)
	if err != nil {
		e.Trouble, e.Blocked = err.Error(), errors.Is(err, guard.ErrBlocked)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, e)
	return response, err
}

func (t *transport) trip(r *http.Request, e *Exchange) (*http.Response, error) {
	t.mu.Lock()
	made := len(t.all)
	t.mu.Unlock()
	if made >= requests {
		return nil, errMany
	}
	r = r.Clone(r.Context())
	if r.Body != nil {
		body, err := io.ReadAll(io.LimitReader(r.Body, sentBytes+1))
		r.Body.Close()
		if err != nil {
			return nil, err
		}
		if len(body) > sentBytes {
			return nil, errLong
		}
		e.Sent, r.Body, r.ContentLength = string(body), io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	if other, moved := t.endpoints[r.URL.Host]; moved {
		u, err := url.Parse(other)
		if err != nil {
			return nil, err
		}
		r.URL.Scheme, r.URL.Host, r.Host = u.Scheme, u.Host, ""
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, answerBytes))
	response.Body.Close()
	e.Status, e.StatusText, e.RetryAfter, e.Answer = response.StatusCode, response.Status, response.Header.Get("Retry-After"), strings.ToValidUTF8(string(answer), "�")
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		return nil, errRedirect
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	return response, nil
}
