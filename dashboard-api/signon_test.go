package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/secret"
)

func TestSingleSignOnSettings(t *testing.T) {
	t.Parallel()
	inside := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, c := range map[string]struct {
		cfg  Config
		want string // settings that are wrong
	}{
		"none":                 {Config{}, ""},
		"whole":                {Config{OIDCIssuer: "https://id.example/realms/x", OIDCClientID: "pf"}, ""},
		"inside":               {Config{OIDCIssuer: "http://id.internal", OIDCClientID: "pf", OIDCAllowCIDRs: inside}, ""},
		"strangers":            {Config{OIDCIssuer: "https://id.example", OIDCClientID: "pf", OIDCNewRole: "viewer", OIDCDomains: []string{"example.com"}}, ""},
		"without TLS":          {Config{OIDCIssuer: "http://id.example", OIDCClientID: "pf"}, "API_OIDC_ISSUER"},
		"no URL":               {Config{OIDCIssuer: "id.example"}, "API_OIDC_ISSUER API_OIDC_CLIENT_ID"},
		"a password":           {Config{OIDCIssuer: "https://a:b@id.example", OIDCClientID: "pf"}, "API_OIDC_ISSUER"},
		"no issuer":            {Config{OIDCClientSecret: secret.New("x")}, "API_OIDC_ISSUER"},
		"anybody":              {Config{OIDCIssuer: "https://id.example", OIDCClientID: "pf", OIDCNewRole: "viewer"}, "API_OIDC_NEW_ROLE"},
		"addresses as domains": {Config{OIDCIssuer: "https://id.example", OIDCClientID: "pf", OIDCDomains: []string{"@example.com"}}, "API_OIDC_DOMAINS"},
	} {
		var names []string
		for _, mistake := range c.cfg.judgeOIDC() {
			setting, _, _ := strings.Cut(mistake, ":")
			names = append(names, setting)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
