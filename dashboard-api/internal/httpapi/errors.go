package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/jobs"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/signon"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/subscriberstore"
	"github.com/probefleet/probefleet/internal/targetstore"
)

// Codes of problems and mistakes: programs rely on them, so they never change. Those of
// what a target asks for are in packages spec and assertion.
const (
	codeMalformedJSON    = "malformed_json"
	codeUnknownField     = "unknown_field"
	codeInvalidType      = "invalid_type"
	codeInvalidParameter = "invalid_parameter"
	codeInvalidRange     = "invalid_range"
	codeInvalidText      = "invalid_text"
	codeRequired         = "required"
	codeTooLong          = "too_long"
	codeTooShort         = "too_short"
	codeTooLarge         = "too_large"
	codeUnknownKind      = "unknown_kind"
	codeKindMismatch     = "kind_mismatch"
	codeNoSecret         = "no_stored_secret"
	codeSecretOrigin     = "secret_of_another_host"
	codeUnreadable       = "unreadable"
	codeInterval         = "interval_out_of_range"
	codeTimeout          = "timeout_out_of_range"
	codeUnknownRegion    = "unknown_region"
	codeStatusRange      = "invalid_status_range"
	codeDuplicateName    = "duplicate_name"
	codeInvalidEmail     = "invalid_email"
	codeNotFound         = "not_found"
	codeUnauthorized     = "unauthorized"
	codeForbidden        = "forbidden"
	codeVersionMismatch  = "version_mismatch"
	codeHostRate         = "host_rate_exceeded"
	codeContrast         = "contrast_too_low"
	codeUnavailable      = "unavailable"
	codeUnknownZone      = "unknown_zone"
	codeParent           = "invalid_parent"
)

// retryWhenDown is how soon a caller should try again while something is down.
const retryWhenDown = 5 * time.Second

// outage marks an error of a store that could not answer.
type outage struct {
	what string // for people: the database, ClickHouse, Redis
	err  error
}

func (o *outage) Error() string { return o.what + ": " + o.err.Error() }
func (o *outage) Unwrap() error { return o.err }

// down marks err as an outage of what; nil stays nil.
func down(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &outage{what, err}
}

// mapping is the one table from errors to answers; the first match counts.
var mapping = [...]struct {
	is      error
	problem func(error) *Problem
}{
	{targetstore.ErrNotFound, func(error) *Problem { return problem(http.StatusNotFound, codeNotFound, "there is no such target") }},
	{targetstore.ErrConflict, func(error) *Problem {
		return problem(http.StatusPreconditionFailed, codeVersionMismatch, "the target has changed since you read it: read it again")
	}},
	{targetstore.ErrNameTaken, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/name", Code: codeDuplicateName, Message: "another target has this name"}})
	}},
	{targetstore.ErrNoParent, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/parent_id", Code: codeNotFound, Message: "there is no such target"}})
	}},
	{targetstore.ErrParentCycle, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/parent_id", Code: codeParent, Message: "a target cannot depend on itself, nor on one that depends on it"}})
	}},
	{targetstore.ErrParentDepth, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/parent_id", Code: codeParent, Message: fmt.Sprintf("at most %d targets in a row depend on each other", targetstore.MaxParents)}})
	}},
	{targetstore.ErrHasChildren, func(error) *Problem {
		return problem(http.StatusConflict, "target_has_children", "other targets depend on this one (?parent_id= lists them): have them depend on another one, or none, before it is deleted")
	}},
	{jobstore.ErrNotFound, func(error) *Problem {
		return problem(http.StatusNotFound, codeNotFound, "there is no such check, or no longer")
	}},
	{heartbeatstore.ErrNotFound, func(error) *Problem { return problem(http.StatusNotFound, codeNotFound, "there is no such heartbeat") }},
	{heartbeatstore.ErrBehind, func(error) *Problem {
		return problem(http.StatusServiceUnavailable, codeUnavailable, "deadlines of an outage are being made up for: ping again").retryAfter(time.Second)
	}},
	{heartbeatstore.ErrUnread, func(error) *Problem {
		return problem(http.StatusServiceUnavailable, codeUnavailable, "this release cannot read when this heartbeat is to ping: it was written by a newer one, or is broken").retryAfter(retryWhenDown)
	}},
	{maintenancestore.ErrNotFound, func(error) *Problem {
		return problem(http.StatusNotFound, codeNotFound, "there is no such maintenance window")
	}},
	{maintenancestore.ErrConflict, func(error) *Problem {
		return problem(http.StatusPreconditionFailed, codeVersionMismatch, "it has changed since you read it: read it again")
	}},
	{maintenancestore.ErrEnded, func(error) *Problem {
		return problem(http.StatusConflict, "window_ended", "this maintenance was ended: plan another one")
	}},
	{maintenancestore.ErrTooOften, func(error) *Problem {
		return problem(http.StatusConflict, "too_many", fmt.Sprintf("it was changed %d times, and all that it was is kept: end it, and plan another one", maintenancestore.MostChanges))
	}},
	{maintenancestore.ErrUnreadable, func(error) *Problem {
		return problem(http.StatusUnprocessableEntity, codeUnreadable, "not all of this window can be read by this release, and so it is not changed: upgrade, or end it and plan another one")
	}},
	{incidentstore.ErrUnreadable, func(error) *Problem {
		return problem(http.StatusUnprocessableEntity, codeUnreadable, "not all of this rule can be read by this release, and so it is not changed: upgrade, or delete it and create it anew")
	}},
	{incidentstore.ErrNotFound, func(error) *Problem { return problem(http.StatusNotFound, codeNotFound, "there is no such incident") }},
	{incidentstore.ErrResolved, func(error) *Problem {
		return problem(http.StatusConflict, "incident_resolved", "the incident is over: there is nothing to look after any more")
	}},
	{incidentstore.ErrChannelNotFound, func(error) *Problem { return problem(http.StatusNotFound, codeNotFound, "there is no such channel") }},
	{incidentstore.ErrRuleNotFound, func(error) *Problem {
		return problem(http.StatusNotFound, codeNotFound, "there is no such notification rule")
	}},
	{incidentstore.ErrConflict, func(error) *Problem {
		return problem(http.StatusPreconditionFailed, codeVersionMismatch, "it has changed since you read it: read it again")
	}},
	{incidentstore.ErrNameTaken, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/name", Code: codeDuplicateName, Message: "another one has this name"}})
	}},
	{incidentstore.ErrInUse, func(error) *Problem {
		return problem(http.StatusConflict, "channel_in_use", "a notification rule tells this channel: take it out there first")
	}},
	{pagestore.ErrNotFound, func(error) *Problem {
		return problem(http.StatusNotFound, codeNotFound, "there is no such status page")
	}},
	{subscriberstore.ErrNotFound, func(error) *Problem { return problem(http.StatusNotFound, codeNotFound, "there is no such subscriber") }},
	{pagestore.ErrPostNotFound, func(error) *Problem { return problem(http.StatusNotFound, codeNotFound, "there is no such post") }},
	{pagestore.ErrIncidentGone, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/incident_id", Code: codeNotFound, Message: noIncident}})
	}},
	{pagestore.ErrConflict, func(error) *Problem {
		return problem(http.StatusPreconditionFailed, codeVersionMismatch, "it has changed since you read it: read it again")
	}},
	{jobs.ErrFull, func(error) *Problem {
		return problem(http.StatusServiceUnavailable, "checks_full", "too many checks are waiting: try again").retryAfter(checkRetryAfter)
	}},
	{accountstore.ErrSetupDone, func(error) *Problem {
		return problem(http.StatusConflict, "setup_done", "the owner's account exists already: sign in")
	}},
	{accountstore.ErrBadToken, func(error) *Problem {
		return problem(http.StatusForbidden, "bad_token", "this set-up link is not valid any more: take the newest one from the log")
	}},
	{session.ErrBadCredentials, func(error) *Problem {
		return problem(http.StatusUnauthorized, "bad_credentials", "the e-mail address or the password is wrong")
	}},
	{session.ErrDisabled, func(error) *Problem {
		return problem(http.StatusForbidden, "account_disabled", "this account is disabled: an owner can enable it again")
	}},
	{session.ErrWrongPassword, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/current_password", Code: "wrong_password", Message: "this is not your password"}})
	}},
	{session.ErrSignInAgain, func(error) *Problem {
		return problem(http.StatusForbidden, "sign_in_again", "sign in again: this needs a sign-in of the last ten minutes, since you have no password; one with a provider counts if it says when it asked you (auth_time)")
	}},
	{session.ErrNoPasskeys, func(error) *Problem {
		return problem(http.StatusConflict, "no_passkeys", "browsers have passkeys only for an address of https:// with a name: the operator sets API_PUBLIC_URL")
	}},
	{session.ErrBadPasskey, func(error) *Problem {
		return problem(http.StatusUnauthorized, "bad_passkey", "this passkey signs nobody in here: use another one, or the password")
	}},
	{session.ErrPasskeyRefused, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/credential", Code: "bad_passkey", Message: "this passkey cannot be used here: it must be made for this address, and ask for a finger, a face or a number"}})
	}},
	{session.ErrNotBegun, func(error) *Problem {
		return problem(http.StatusConflict, "registration_over", "this registration is over, took too long or was begun elsewhere: begin again")
	}},
	{session.ErrNoProvider, func(error) *Problem {
		return problem(http.StatusConflict, "no_provider", "there is no single sign-on here: the operator sets API_OIDC_ISSUER")
	}},
	{signon.ErrUnavailable, func(error) *Problem {
		return problem(http.StatusServiceUnavailable, "provider_unavailable", "the provider of single sign-on cannot be reached at this moment").retryAfter(retryWhenDown)
	}},
	{signon.ErrUntrue, func(error) *Problem {
		return problem(http.StatusBadGateway, "provider_untrue", "the provider of single sign-on says something that cannot be: the log knows more")
	}},
	{accountstore.ErrPasskeyKnown, func(error) *Problem {
		return problem(http.StatusConflict, "passkey_known", "this passkey is registered already")
	}},
	{accountstore.ErrTooManyPasskeys, func(error) *Problem {
		return problem(http.StatusConflict, "too_many_passkeys", fmt.Sprintf("at most %d passkeys: remove one first", accountstore.MaxPasskeys))
	}},
	{accountstore.ErrLastWay, func(error) *Problem {
		return problem(http.StatusConflict, "last_way_in", "without it you could not sign in any more: set a password or register another passkey first")
	}},
	{accountstore.ErrEmailTaken, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/email", Code: "email_taken", Message: "another account has this address"}})
	}},
	{session.ErrBadChallenge, func(error) *Problem {
		return problem(http.StatusUnauthorized, "bad_challenge", "this sign-in is over or took too long: begin again")
	}},
	{session.ErrWrongCode, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/code", Code: "wrong_code", Message: "this code is wrong or was used: wait for the next one"}})
	}},
	{session.ErrNoFactor, func(error) *Problem {
		return problem(http.StatusConflict, "no_second_factor", "no second factor waits to be confirmed: begin again")
	}},
	{accountstore.ErrFactorOn, func(error) *Problem {
		return problem(http.StatusConflict, "second_factor_on", "there is a second factor already: remove it first")
	}},
	{accountstore.ErrLastOwner, func(error) *Problem {
		return problem(http.StatusConflict, "last_owner", "nobody else is an owner: make somebody else one first")
	}},
	{accountstore.ErrBadInvitation, func(error) *Problem {
		return problem(http.StatusForbidden, "bad_invitation", "this invitation is not valid any more: ask for another one")
	}},
	{accountstore.ErrOtherAddress, func(error) *Problem {
		return mistakes([]Mistake{{Pointer: "/email", Code: "other_address", Message: "the invitation is for another address"}})
	}},
	{accountstore.ErrNoAddress, func(error) *Problem { return mistakes([]Mistake{needed("/email")}) }},
	{accountstore.ErrConflict, func(error) *Problem {
		return problem(http.StatusConflict, "account_changed", "the account has changed meanwhile: try again")
	}},
	{accountstore.ErrVersion, func(error) *Problem {
		return problem(http.StatusPreconditionFailed, codeVersionMismatch, "the account has changed since you read it: read it again")
	}},
	{accountstore.ErrNotFound, func(error) *Problem {
		return problem(http.StatusNotFound, codeNotFound, "there is no such thing, or no longer")
	}},
	{session.ErrBusy, func(error) *Problem {
		return problem(http.StatusServiceUnavailable, codeUnavailable, "too many people are signing in: try again").retryAfter(time.Second)
	}},
	{database.ErrUnavailable, func(error) *Problem { return unavailable("the database") }},
	{context.Canceled, func(error) *Problem { return problem(499, "cancelled", "the caller went away") }},
	{context.DeadlineExceeded, func(error) *Problem {
		return problem(http.StatusServiceUnavailable, codeUnavailable, "the answer took too long: ask for less").retryAfter(retryWhenDown)
	}},
}

func unavailable(what string) *Problem {
	return problem(http.StatusServiceUnavailable, codeUnavailable, what+" cannot be reached at this moment").retryAfter(retryWhenDown)
}

// problemOf gives the answer for an error. What it does not know is a 500 that says nothing of it.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if o, ok := errors.AsType[*outage](err); ok {
		return withCause(unavailable(o.what), err)
	}
	if slow, ok := errors.AsType[*session.ThrottledError](err); ok {
		return problem(http.StatusTooManyRequests, "too_many_attempts", "too many attempts: wait before the next one").retryAfter(slow.Wait)
	}
	if blocked, ok := errors.AsType[*session.BlockedPasskeyError](err); ok {
		return passkeyProblem(blocked)
	}
	if over, ok := errors.AsType[*targetstore.HostRateError](err); ok {
		return withCause(hostRate(over), err)
	}
	for _, row := range mapping {
		if errors.Is(err, row.is) {
			return withCause(row.problem(err), err)
		}
	}
	return withCause(problem(http.StatusInternalServerError, "internal", "something went wrong here; the log knows more"), err)
}

// hostRate says what a save would have asked of a host, and what can be done.
func hostRate(over *targetstore.HostRateError) *Problem {
	return mistakes([]Mistake{{Pointer: "/" + over.Field, Code: codeHostRate, Message: fmt.Sprintf(
		"this host would get %s requests a second from all of its targets and regions together (the others: %s), and %s is the limit: "+
			"check it less often or from fewer regions, pause others of its targets, or have the operator raise API_HOST_RATE or exempt it (API_HOST_RATE_EXEMPT)",
		perSecond(over.With), perSecond(over.Others), perSecond(over.Limit))}})
}

// perSecond writes a rate with two digits behind the point at most, rounded up where that
// would make a little nothing.
func perSecond(rate float64) string {
	return strconv.FormatFloat(math.Ceil(max(0, rate*100-1e-6))/100, 'f', -1, 64)
}

func withCause(p *Problem, err error) *Problem {
	p.cause = err
	return p
}
