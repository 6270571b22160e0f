package main

import (
	"net/url"
	"slices"
	"strings"

	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/signon"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/guard"
)

// judgeOIDC says what is wrong with the settings of single sign-on.
func (c Config) judgeOIDC() (found []string) {
	if c.OIDCIssuer == "" {
		if c.OIDCClientID != "" || !c.OIDCClientSecret.IsZero() || c.OIDCNewRole != "" {
			found = append(found, "API_OIDC_ISSUER: is needed for single sign-on")
		}
		return found
	}
	u, err := url.Parse(c.OIDCIssuer)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		found = append(found, "API_OIDC_ISSUER: not an https:// URL")
	case u.Scheme == "http" && len(c.OIDCAllowCIDRs) == 0:
		found = append(found, "API_OIDC_ISSUER: http:// only for an issuer in API_OIDC_ALLOW_CIDRS: whoever is between could sign in as anybody")
	}
	if c.OIDCClientID == "" {
		found = append(found, "API_OIDC_CLIENT_ID: is needed with API_OIDC_ISSUER")
	}
	if c.OIDCNewRole != "" && len(c.OIDCDomains) == 0 {
		found = append(found, "API_OIDC_NEW_ROLE: needs API_OIDC_DOMAINS: else whoever has an account there comes in")
	}
	for _, domain := range c.OIDCDomains {
		if strings.ContainsAny(domain, "@ /*") || !strings.Contains(domain, ".") {
			found = append(found, "API_OIDC_DOMAINS: a domain is such as example.com")
			break
		}
	}
	return found
}

// signOn has people sign in with the provider, if one is set.
func (c Config) signOn(sessions *session.Sessions) {
	if c.OIDCIssuer == "" {
		return
	}
	domains := slices.Clone(c.OIDCDomains)
	for i, domain := range domains {
		domains[i] = strings.ToLower(domain)
	}
	sessions.WithProvider(signon.New(signon.Options{
		Issuer: c.OIDCIssuer, ClientID: c.OIDCClientID, ClientSecret: c.OIDCClientSecret, Label: c.OIDCLabel,
		RedirectURL: c.PublicURL + httpapi.ProviderCallback, Guard: guard.New(c.OIDCAllowCIDRs),
	}), session.Terms{Domains: domains, Strangers: accountstore.Role(c.OIDCNewRole)})
}
