package httpapi

import (
	"context"
	"net/http"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// ConfirmInput says the password again.
type ConfirmInput struct {
	Current *string `json:"current_password,omitempty" maxLength:"256" doc:"needed of who has a password"`
}

// CodeInput is a code of the second factor.
type CodeInput struct {
	Code *string `json:"code" maxLength:"40" example:"123456"`
}

// VerifyInput finishes a sign-in.
type VerifyInput struct {
	Challenge *string `json:"challenge" doc:"from the first step"`
	Code      *string `json:"code" maxLength:"40" doc:"of the app, or a recovery code" example:"123456"`
}

// SecondStep is what a sign-in goes on with.
type SecondStep struct {
	Challenge string  `json:"challenge"`
	ExpiresAt instant `json:"expires_at"`
}

type factorBody struct {
	Enabled bool  `json:"enabled"`
	Left    int64 `json:"recovery_codes_left"`
}

type enrolBody struct {
	Secret string `json:"secret" doc:"for the app, by hand; shown once"`
	URL    string `json:"url" doc:"the same as an otpauth:// URL, to be shown as a QR code"`
}

type recoveryBody struct {
	Codes []string `json:"recovery_codes" nullable:"false" doc:"each counts once, without the app; shown once"`
}

type (
	factorOutput   struct{ Body factorBody }
	enrolOutput    struct{ Body enrolBody }
	recoveryOutput struct {
		Cookie []string `header:"Set-Cookie"`
		Body   recoveryBody
	}
)

func (a *api) secondFactor(ctx context.Context, _ *struct{}) (*factorOutput, error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	on, left, err := a.Sessions.FactorState(ctx, me)
	if err != nil {
		return nil, err
	}
	return &factorOutput{factorBody{on, left}}, nil
}

// confirmed reads the password that who is signed in says again.
func confirmed(ctx context.Context, body document[ConfirmInput]) (me session.Identity, password string, err error) {
	if me, err = person(ctx); err != nil {
		return me, "", err
	}
	p := read(body, func(f ConfirmInput, _ nulls) []Mistake {
		password = deref(f.Current)
		return judgeCurrent(me, f.Current)
	})
	if p != nil {
		return me, "", p
	}
	return me, password, nil
}

// judgeCurrent wants the password, of who has one.
func judgeCurrent(me session.Identity, text *string) []Mistake {
	if me.User.Passwordless {
		return nil
	}
	return judgeGiven("/current_password", text)
}

// judgeMaker wants the password, of a person who makes a way in that outlives the session. A key
// has none to say.
func judgeMaker(maker session.Identity, text *string) []Mistake {
	if maker.User == nil {
		return nil
	}
	return judgeCurrent(maker, text)
}

// confirmMaker has a person say the password again: a session that was left open is not enough.
// It gives who has said it, nobody for a key.
func (a *api) confirmMaker(ctx context.Context, maker session.Identity, password string) (accountstore.User, error) {
	if maker.User == nil {
		return accountstore.User{}, nil
	}
	return a.Sessions.Confirm(requestOf(ctx), maker, password)
}

func (a *api) enrolFactor(ctx context.Context, in *struct{ Body document[ConfirmInput] }) (*enrolOutput, error) {
	me, password, err := confirmed(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	key, url, err := a.Sessions.Enrol(requestOf(ctx), me, password)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "second-factor.enrolled", me.Actor, "")
	return &enrolOutput{enrolBody{key, url}}, nil
}

func (a *api) confirmFactor(ctx context.Context, in *struct{ Body document[CodeInput] }) (*recoveryOutput, error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	var code string
	p := read(in.Body, func(f CodeInput, _ nulls) []Mistake {
		code = deref(f.Code)
		return judgeGiven("/code", f.Code)
	})
	if p != nil {
		return nil, p
	}
	codes, known, err := a.Sessions.Activate(requestOf(ctx), me, code)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "second-factor.enabled", me.Actor, "")
	return &recoveryOutput{Cookie: cookieTexts(known), Body: recoveryBody{codes}}, nil
}

func (a *api) removeFactor(ctx context.Context, in *struct{ Body document[ConfirmInput] }) (*noContent, error) {
	me, password, err := confirmed(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	if err := a.Sessions.RemoveFactor(requestOf(ctx), me, password); err != nil {
		return nil, err
	}
	a.audit(ctx, "second-factor.removed", me.Actor, "")
	return nil, nil
}

func (a *api) verify(ctx context.Context, in *struct{ Body document[VerifyInput] }) (*sessionOutput, error) {
	var fields VerifyInput
	p := read(in.Body, func(f VerifyInput, _ nulls) []Mistake {
		fields = f
		return append(judgeGiven("/challenge", f.Challenge), judgeGiven("/code", f.Code)...)
	})
	if p != nil {
		return nil, p
	}
	arrival, err := a.Sessions.Verify(requestOf(ctx), *fields.Challenge, *fields.Code)
	a.auditArrival(ctx, arrival)
	if err != nil {
		return nil, err
	}
	return a.entering(ctx, arrival.User, arrival.Cookie, "with a second factor"), nil
}

// secondStep is the answer to a password that is right and not enough.
func secondStep(needed *session.SecondFactorError) *sessionOutput {
	return &sessionOutput{Status: http.StatusAccepted, Body: sessionBody{Second: &SecondStep{needed.Challenge, instant(needed.ExpiresAt)}}}
}
