package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/signon"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/testissuer"
)

// issuer is a provider of single sign-on, with people.
type issuer struct {
	*testing.T
	*testissuer.Issuer

	mu    sync.Mutex
	forge func(answer, claims jsonMap) // of tokens, before they are signed
	key   any                          // nil: its own
}

type jsonMap = map[string]any

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{T: t}
	i.Issuer = testissuer.Start(t, "https://pf.example"+ProviderCallback, func(http.Handler) http.Handler { return http.HandlerFunc(i.serve) })
	return i
}

// serve is the provider, whose tokens a test may spoil.
func (i *issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	forge, key := i.forge, i.key
	i.mu.Unlock()
	if forge == nil || r.URL.Path != "/oauth/token" {
		i.Provider.ServeHTTP(w, r)
		return
	}
	said := httptest.NewRecorder()
	i.Provider.ServeHTTP(said, r)
	answer, claims := jsonMap{}, jsonMap{}
	if err := json.Unmarshal(said.Body.Bytes(), &answer); err != nil {
		i.Error(err)
	}
	raw, _ := answer["id_token"].(string)
	if token, err := jose.ParseSigned(raw, []jose.SignatureAlgorithm{jose.RS256}); err == nil {
		if err := json.Unmarshal(token.UnsafePayloadWithoutVerification(), &claims); err != nil {
			i.Error(err)
		}
		own, err := i.Store.SigningKey(r.Context())
		if err != nil {
			i.Error(err)
		}
		if key == nil {
			key = own.Key()
		}
		answer["id_token"] = nil
		forge(answer, claims)
		if answer["id_token"] == nil {
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: own.ID()}}, nil)
			if err != nil {
				i.Error(err)
			}
			payload, _ := json.Marshal(claims)
			signed, err := signer.Sign(payload)
			if err != nil {
				i.Error(err)
			}
			answer["id_token"], _ = signed.CompactSerialize()
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(said.Code)
	_ = json.NewEncoder(w).Encode(answer)
}

// with is how a bench has people sign in with the provider.
func (i *issuer) with(terms session.Terms, change ...func(*signon.Options)) func(*bench, *Options) {
	o := signon.Options{
		Issuer: i.URL(), ClientID: testissuer.ClientID, ClientSecret: secret.New(testissuer.ClientSecret), Label: "Example Ltd", RedirectURL: "https://pf.example" + ProviderCallback,
		Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}),
	}
	for _, f := range change {
		f(&o)
	}
	return func(_ *bench, options *Options) { options.Sessions.WithProvider(signon.New(o), terms) }
}

// depart begins to sign in: where the browser is sent.
func (w *browser) depart() *url.URL {
	w.Helper()
	got := w.do("POST", "/api/v1/session/provider", `{}`)
	var out struct{ URL string }
	got.into(w, &out)
	to, err := url.Parse(out.URL)
	if got.Code != http.StatusOK || err != nil || to.Host == "" {
		w.Fatalf("%d %s %v", got.Code, got.text, err)
	}
	return to
}

// asks is what a person's browser does at the provider: the query that it comes back with.
func (i *issuer) asks(to *url.URL, subject string) url.Values {
	i.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	get := func(to string) *url.URL {
		i.Helper()
		r, err := http.NewRequestWithContext(i.Context(), http.MethodGet, to, nil)
		if err != nil {
			i.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			i.Fatal(err)
		}
		answer.Body.Close()
		next, err := answer.Location()
		if err != nil {
			i.Fatalf("%s: %d %v", to, answer.StatusCode, err)
		}
		return next
	}
	login := get(to.String())
	id := login.Query().Get("authRequestID")
	signedIn, err := i.SignIn(subject, id)
	if err != nil {
		i.Fatal(err)
	}
	back := get(signedIn)
	if base, _, _ := strings.Cut(back.String(), "?"); base != "https://pf.example"+ProviderCallback {
		i.Fatalf("the provider leads back to %s", back)
	}
	return back.Query()
}

func (w *browser) arrive(query url.Values) (to string) {
	w.Helper()
	got := w.do("GET", ProviderCallback+"?"+query.Encode(), "")
	if got.Code != http.StatusSeeOther {
		w.Fatalf("%d %s", got.Code, got.text)
	}
	return got.Header().Get("Location")
}
