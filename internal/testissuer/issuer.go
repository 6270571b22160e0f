// Package testissuer is a real provider of single sign-on (OpenID Connect) for tests, with one client
// and people who need no secret.
package testissuer

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The one client.
const (
	ClientID     = "probefleet"
	ClientSecret = "the client's secret"
)

// password of everybody.
const password = "x"

// Issuer is the provider, over HTTP on the loopback interface.
type Issuer struct {
	Provider op.OpenIDProvider
	Store    *storage.Storage

	server *httptest.Server
	people people
}

// Start serves it until the test ends. serve stands before it; nil: nothing does.
func Start(t testing.TB, callback string, serve func(http.Handler) http.Handler) *Issuer {
	t.Helper()
	i := &Issuer{server: httptest.NewUnstartedServer(nil), people: people{}}
	t.Cleanup(i.server.Close)
	i.Store = storage.NewStorageWithClients(i.people, map[string]*storage.Client{ClientID: storage.WebClient(ClientID, ClientSecret, callback)})
	var err error
	i.Provider, err = op.NewProvider(&op.Config{CryptoKey: [32]byte{1}, CodeMethodS256: true}, i.Store, op.StaticIssuer(i.URL()), op.WithAllowInsecure())
	if err != nil {
		t.Fatal(err)
	}
	i.server.Config.Handler = i.Provider
	if serve != nil {
		i.server.Config.Handler = serve(i.Provider)
	}
	i.server.Start()
	return i
}

// URL is how it calls itself.
func (i *Issuer) URL() string { return "http://" + i.server.Listener.Addr().String() }

// Close ends it before the test does.
func (i *Issuer) Close() { i.server.Close() }

// Person adds somebody, or says something else of them, while nobody signs in.
func (i *Issuer) Person(subject, email string, verified bool) {
	i.people[subject] = &storage.User{ID: subject, Username: subject, Password: password, FirstName: "Eve", LastName: "Doe\u0007", Email: email, EmailVerified: verified}
}

// SignIn answers a request to sign in, and gives the address that the browser is sent to.
func (i *Issuer) SignIn(subject, request string) (to string, err error) {
	if err := i.Store.CheckUsernamePassword(subject, password, request); err != nil {
		return "", err
	}
	return op.AuthCallbackURL(i.Provider)(op.ContextWithIssuer(context.Background(), i.URL()), request), nil
}

// people by subject.
type people map[string]*storage.User

func (p people) GetUserByID(id string) *storage.User         { return p[id] }
func (p people) GetUserByUsername(name string) *storage.User { return p[name] }
func (p people) ExampleClientID() string                     { return "none" }
