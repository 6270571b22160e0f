package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Problem is the answer to every request that did not work (RFC 9457).
type Problem struct {
	Type        string    `json:"type" doc:"a URN that ends in the code"`
	Title       string    `json:"title" doc:"what kind of problem this is"`
	Status      int       `json:"status" doc:"the HTTP status"`
	Detail      string    `json:"detail,omitempty" doc:"what happened, for people"`
	Code        string    `json:"code" doc:"what happened, for programs; of several mistakes the first"`
	RequestID   string    `json:"request_id,omitempty" doc:"names this request in the logs"`
	Errors      []Mistake `json:"errors,omitempty" doc:"every mistake in the request, at most 100"`
	SetupNeeded *bool     `json:"setup_needed,omitempty" doc:"on 401: true while there is no account yet"`

	headers http.Header
	cause   error // logged, never shown
}

// Mistake is one thing wrong with a request.
type Mistake struct {
	Pointer   string `json:"pointer,omitempty" doc:"JSON pointer into the body" example:"/interval_s"`
	Parameter string `json:"parameter,omitempty" doc:"name of the query, path or header parameter"`
	Code      string `json:"code" example:"interval_out_of_range"`
	Message   string `json:"message"`
}

// problem starts one. The title is the code in words.
func problem(status int, code, detail string) *Problem {
	return &Problem{Type: "urn:probefleet:problem:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// maxMistakes bounds an answer, whatever was asked.
const maxMistakes = 100

// mistakes makes the problem of a bad request: 400 if any of them means that the
// document is not one of ours at all, else 422. Nil without mistakes.
func mistakes(found []Mistake) *Problem {
	if len(found) == 0 {
		return nil
	}
	status, first := http.StatusUnprocessableEntity, found[0]
	for _, m := range found {
		if m.Code == codeUnknownField || m.Code == codeMalformedJSON {
			status, first = http.StatusBadRequest, m
			break
		}
	}
	p := problem(status, first.Code, first.Message)
	if len(found) > 1 {
		p.Detail = fmt.Sprintf("%d mistakes; the first: %s", len(found), first.Message)
	}
	p.Errors = found[:min(len(found), maxMistakes)]
	return p
}

func (p *Problem) retryAfter(wait time.Duration) *Problem {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	return p.header("Retry-After", strconv.Itoa(seconds))
}

func (p *Problem) header(name, value string) *Problem {
	if p.headers == nil {
		p.headers = http.Header{}
	}
	p.headers.Set(name, value)
	return p
}

// Error, GetStatus, GetHeaders and ContentType are how huma writes a problem.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are the headers that go with the problem.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// ContentType is that of problems.
func (*Problem) ContentType(string) string { return problemType }

// Unwrap gives the cause, for logs.
func (p *Problem) Unwrap() error { return p.cause }

const problemType = "application/problem+json"

// write sends the problem outside of huma: before a route was chosen or allowed.
func (p *Problem) write(w http.ResponseWriter, r *http.Request) {
	for name, values := range p.headers {
		w.Header()[name] = values
	}
	p.RequestID = requestID(r.Context())
	w.Header().Set("Content-Type", problemType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// problems is the API's only transformer: it turns the errors huma itself finds
// (parameters, body size) into ours and adds the request id to all. This way
// huma.NewError, a global of that package, stays untouched.
func problems(ctx huma.Context, _ string, body any) (any, error) {
	switch found := body.(type) {
	case *Problem:
		found.RequestID = requestID(ctx.Context())
		return found, nil
	case *huma.ErrorModel:
		p := fromHuma(found)
		p.RequestID = requestID(ctx.Context())
		return p, nil
	}
	return body, nil
}

func fromHuma(found *huma.ErrorModel) *Problem {
	switch found.Status {
	case http.StatusRequestEntityTooLarge:
		return problem(found.Status, codeTooLarge, fmt.Sprintf("the body is larger than %d MiB, or that of an import than %d MiB", maxBody>>20, maxImportBody>>20))
	case http.StatusRequestTimeout:
		return problem(found.Status, "timeout", "the body did not arrive in time")
	case http.StatusBadRequest:
		return mistakes([]Mistake{{Code: codeMalformedJSON, Message: "the body must be a JSON object"}})
	}
	var all []Mistake
	for _, detail := range found.Errors {
		_, name, _ := cutLocation(detail.Location)
		all = append(all, Mistake{Parameter: name, Code: codeInvalidParameter, Message: detail.Message})
	}
	if found.Status == http.StatusUnprocessableEntity && len(all) > 0 {
		return mistakes(all)
	}
	return problem(http.StatusInternalServerError, "internal", "something went wrong here; the log knows more")
}
