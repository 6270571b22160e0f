package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/internal/availability"
)

const (
	// sameNow is how close to now the ranges of readers end who all mean now.
	sameNow = 5 * time.Second
	// toCome is how far beyond now a range reaches that moves with the clock.
	toCome = 24 * time.Hour
	// reuse is how long a browser may show an answer about hours that have closed without
	// asking. What has not closed it asks for each time.
	reuse = 5 * time.Second
)

// about says what an answer is made of: so it can be kept until that changes.
type about struct {
	question string // names it among the copies that serve outages: see past
	targets  []int64
	span     availability.Span // of slots
	whole    time.Duration     // it is made of whole hours or days, of which the span may cut some off; 0: no
	terms    string            // what else the answer follows from
	until    time.Time         // when the evidence in it ends; zero: it says nothing of now
}

// recent answers like past, and keeps the answer for a moment: other readers get the same,
// with its age and ETag, until something that it is made of changes.
func recent[T any](ctx context.Context, a *api, of about, ask func(context.Context) (T, error)) (*pastOutput[T], error) {
	if a.Recent == nil {
		return past(ctx, a, of.question, ask)
	}
	now := a.Now()
	answer, err := a.Recent.Get(ctx, of.named(now), func(ctx context.Context) (answercache.Answer, error) {
		raw, err := fresh(ctx, a, of.question, ask)
		return answercache.Answer{Body: raw, Until: of.keepUntil(now)}, err
	})
	if err != nil {
		return lastCopy[T](a, of.question, now, err)
	}
	age := max(now.Sub(answer.At), 0)
	out := &pastOutput[T]{Age: wholeSeconds(age), ETag: answer.ETag, CacheControl: "private, max-age=0, must-revalidate", Vary: varying, Body: stored[T]{raw: answer.Body}}
	if availability.Closed(of.covers().To, now) {
		out.CacheControl = "private, max-age=" + wholeSeconds(age+reuse)
	}
	return unlessKnown(ctx, out), nil
}

// varying are what tells readers apart: one browser may be used by two.
const varying = "Authorization, Cookie"

// covers are the slots that it is really made of.
func (of about) covers() availability.Span {
	if of.whole == 0 {
		return of.span
	}
	return availability.Span{From: of.span.From.Truncate(of.whole), To: of.span.To.Add(of.whole - 1).Truncate(of.whole)}
}

// keepUntil is how long an answer that is made now may be given again.
func (of about) keepUntil(now time.Time) time.Time {
	until := now.Add(availability.Keep(of.covers().To, now))
	if !of.until.IsZero() && of.until.Before(until) {
		return of.until
	}
	return until
}

// named is the question as the cache knows it. All that ask for a time up to now ask the
// same, to the second.
func (of about) named(now time.Time) answercache.Question {
	q := answercache.Question{Targets: of.targets, Span: of.covers()}
	from, to := strconv.FormatInt(of.span.From.UnixMilli(), 10), strconv.FormatInt(of.span.To.UnixMilli(), 10)
	if gap := of.span.To.Sub(now); gap > -sameNow && gap < toCome {
		ends := gap.Round(time.Second)
		if gap < 0 {
			ends = 0
		}
		from, to = of.span.To.Sub(of.span.From).Round(time.Second).String(), "now+"+ends.String()
		q.Span.To = of.span.To.Add(toCome)
	}
	q.Key = fmt.Sprintf("%s|%s|%s|%s", of.question, from, to, of.terms)
	return q
}

// termsOf names what an answer follows from besides its window and the results.
func termsOf(terms map[int64]availability.Terms) string {
	named := make(map[int64]availability.Terms, len(terms))
	for id, t := range terms {
		t.Window = availability.Span{}
		named[id] = t
	}
	return answercache.Tag(fmt.Append(nil, named)) // maps are printed in order
}

// unlessKnown answers 304 to whoever has the answer already.
func unlessKnown[T any](ctx context.Context, out *pastOutput[T]) *pastOutput[T] {
	out.Status = http.StatusOK
	if r := requestOf(ctx); r != nil && knows(r.Header.Get("If-None-Match"), out.ETag) {
		out.Status = http.StatusNotModified // its body is not sent
	}
	return out
}

// knows says whether If-None-Match lists an ETag.
func knows(header, etag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == etag {
			return etag != ""
		}
	}
	return false
}

func wholeSeconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
