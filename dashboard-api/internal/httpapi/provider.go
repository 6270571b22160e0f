package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/signon"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
)

// ProviderCallback is the path that the provider leads browsers back to.
const ProviderCallback = "/api/v1/session/provider/callback"

// DepartInput begins to sign in with the provider.
type DepartInput struct {
	Again *bool `json:"again,omitempty" doc:"whether the provider is to ask the person anew, also if it knows who is in this browser: for what needs a sign-in of the last ten minutes"`
}

type departureOutput struct {
	Cookie string `header:"Set-Cookie"`
	Body   struct {
		URL string `json:"url" doc:"where the browser goes; the provider leads it back to the login page, or to the dashboard"`
	}
}

// askProvider is open to everybody, and writes a row each time: so it is slowed by address, or by browser where it is known.
func (a *api) askProvider(ctx context.Context, in *struct{ Body document[DepartInput] }) (*departureOutput, error) {
	again := false
	if p := read(in.Body, func(f DepartInput, _ nulls) []Mistake { again = f.Again != nil && *f.Again; return nil }); p != nil {
		return nil, p
	}
	r := requestOf(ctx)
	if wait := a.begins.Allow(a.Sessions.Place(r)); wait > 0 {
		return nil, &session.ThrottledError{Wait: wait}
	}
	to, cookie, err := a.Sessions.AskProvider(r, again)
	if err != nil {
		return nil, err
	}
	out := &departureOutput{Cookie: cookie.String()}
	out.Body.URL = to
	return out, nil
}

// arrive takes in who comes back from the provider. It is a page's answer: the browser goes
// on to the dashboard, or to the login page with a word for what is wrong or the second step.
func (a *api) arrive(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
	defer cancel()
	r = r.WithContext(ctx)
	arrival, err := a.Sessions.LogInWithProvider(r, r.URL.Query())
	label, _ := a.Sessions.ProviderLabel()
	me := context.WithValue(ctx, keyIdentity, session.Identity{Actor: userActor(arrival.User.ID)})
	second, more := errors.AsType[*session.SecondFactorError](err)
	a.auditArrival(ctx, arrival)
	to := "/"
	switch {
	case more:
		to = "/login#challenge=" + url.QueryEscape(second.Challenge)
		w.Header().Set("Set-Cookie", second.Cookie.String())
	case err != nil:
		word := wrong(err)
		a.Log.Warn("nobody was signed in by the provider", "request_id", requestID(ctx), "problem", word, "error", err)
		to = "/login?problem=" + word
	default:
		a.audit(me, "session.created", userActor(arrival.User.ID), "with "+label)
		for _, cookie := range a.cookies(ctx, arrival.User, arrival.Cookie) {
			w.Header().Add("Set-Cookie", cookie)
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// auditArrival notes what was made or bound, whatever became of the sign-in afterwards.
func (a *api) auditArrival(ctx context.Context, arrival session.Arrival) {
	if action := arrivals(arrival.Came); action != "" {
		label, _ := a.Sessions.ProviderLabel()
		me := context.WithValue(ctx, keyIdentity, session.Identity{Actor: userActor(arrival.User.ID)})
		a.audit(me, action, userActor(arrival.User.ID), arrival.User.Email+" as "+string(arrival.User.Role)+", by "+label)
	}
}

// arrivals is what the audit log calls a first sign-in.
func arrivals(came string) string {
	return map[string]string{"bound": "identity.bound", "invited": "invitation.accepted", "new": "user.created"}[came]
}

// wrong is the word that the login page has a sentence for.
func wrong(err error) string {
	for _, row := range [...]struct {
		is   error
		word string
	}{
		{session.ErrNoProvider, "no_provider"},
		{session.ErrBadChallenge, "bad_challenge"},
		{session.ErrUnverified, "email_not_verified"},
		{session.ErrDomain, "domain_not_allowed"},
		{session.ErrNotAskedAgain, "not_asked_again"},
		{session.ErrDisabled, "account_disabled"},
		{accountstore.ErrUnknownPerson, "unknown_person"},
		{accountstore.ErrOtherIdentity, "other_identity"},
		{accountstore.ErrConflict, "account_changed"},
		{signon.ErrUnavailable, "provider_unavailable"},
		{signon.ErrRefused, "provider_refused"},
		{signon.ErrUntrue, "provider_untrue"},
		{database.ErrUnavailable, "unavailable"},
	} {
		if errors.Is(err, row.is) {
			return row.word
		}
	}
	if _, slow := errors.AsType[*session.ThrottledError](err); slow {
		return "too_many_attempts"
	}
	return "internal"
}
