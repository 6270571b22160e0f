package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	databaseurl "github.com/probefleet/probefleet/internal/database/connect"
	"github.com/probefleet/probefleet/internal/envconf"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/service"
)

// Config is every setting of the API, from its environment.
type Config struct {
	service.Settings
	DatabaseURL      secret.Text    `env:"DATABASE_URL" required:"true" help:"relational database: postgres://user:password@host/name or sqlite:PATH"`
	RedisURL         secret.Text    `env:"REDIS_URL" required:"true" help:"Redis: redis://user:password@host:6379/0"`
	ClickHouseURL    secret.Text    `env:"CLICKHOUSE_URL" required:"true" help:"ClickHouse, native protocol: clickhouse://user:password@host:9000/probefleet"`
	SecretKey        secret.Text    `env:"SECRET_KEY" required:"true" min:"32" help:"the same 32 or more random characters for every process; make them with: openssl rand -hex 32"`
	OtherKey         secret.Text    `env:"SECRET_KEY_OTHER" min:"32" help:"while SECRET_KEY is changed: the one before, or the one to come; with it secrets are opened, and none sealed"`
	Port             int            `env:"PORT" default:"8080" min:"1" max:"65535" help:"port of the dashboard and the API"`
	Bind             string         `env:"API_BIND" help:"address to listen on; empty is all of them"`
	PublicURL        string         `env:"API_PUBLIC_URL" help:"where people reach the dashboard; default http://localhost:PORT"`
	TrustProxy       bool           `env:"API_TRUST_PROXY" default:"false" help:"true behind a proxy of yours that sets X-Forwarded-For and X-Forwarded-Proto itself"`
	HostRate         float64        `env:"API_HOST_RATE" default:"5" min:"0" help:"requests a second that the active targets of one host may come to, all regions together; a save beyond is refused; 0: no limit"`
	HostsExempt      []string       `env:"API_HOST_RATE_EXEMPT" help:"hosts of yours without that limit: names, .example.com for all below one, addresses, ranges; those in the probers' PROBER_ALLOW_CIDRS are without it anyway"`
	AllowCIDRs       []netip.Prefix `env:"API_ALLOW_CIDRS" help:"private ranges that notifications may be sent to, such as 10.0.0.0/8 for a mail server of yours; cloud metadata addresses stay closed"`
	SMTPURL          secret.Text    `env:"API_SMTP_URL" help:"mail server for those who subscribe to status pages: smtp://user:password@host:587 (STARTTLS is insisted on), smtps://user:password@host:465, or smtp://host:25?security=none; empty: nobody can subscribe by e-mail"`
	SMTPFrom         string         `env:"API_SMTP_FROM" help:"address that those mails come from"`
	BootstrapKey     secret.Text    `env:"BOOTSTRAP_API_KEY" help:"an owner's API key to create at start if it is not there, for automation"`
	SpoolDir         string         `env:"API_SPOOL_DIR" help:"folder, of this node alone, for results from outside while ClickHouse is away; it must survive a restart; empty: they are answered 503 meanwhile"`
	SpoolMaxBytes    envconf.Bytes  `env:"API_SPOOL_MAX_BYTES" default:"500MiB" min:"1048576" help:"the most the spool may take on disk"`
	SpoolVolatile    bool           `env:"API_SPOOL_VOLATILE" default:"false" help:"allow a spool folder that does not survive a restart of the machine: a temporary folder or one in memory"`
	SocketsMax       int            `env:"API_SOCKETS_MAX" default:"20000" min:"1" help:"live connections that this node takes; more are answered 503 and come back later"`
	SocketsOfAccount int            `env:"API_SOCKETS_PER_ACCOUNT" default:"500" min:"1" help:"live connections that one session or API key may have on this node"`
	PageReaders      int            `env:"API_PAGE_READERS_PER_ADDRESS" default:"50" min:"1" help:"live connections to status pages that one address (of IPv6: one /64) may have on this node; more are answered 429, and their pages ask every 10 seconds instead"`
	DeadmanURL       secret.Text    `env:"API_DEADMAN_URL" help:"URL of an alarm outside that rings when it is not called: it is posted to every 20 seconds while the whole fleet is well; let it wait for 60"`
	DeadmanFail      secret.Text    `env:"API_DEADMAN_FAIL_URL" help:"URL that is posted to instead while something is wrong, with what it is as plain text; empty: nothing is sent then"`
	OIDCIssuer       string         `env:"API_OIDC_ISSUER" help:"issuer of single sign-on (OpenID Connect), such as https://accounts.google.com, to the letter as it calls itself; empty: there is none. Its redirect URI is API_PUBLIC_URL/api/v1/session/provider/callback"`
	OIDCClientID     string         `env:"API_OIDC_CLIENT_ID" help:"who we are to the issuer"`
	OIDCClientSecret secret.Text    `env:"API_OIDC_CLIENT_SECRET" help:"the client's secret; empty: a public client"`
	OIDCLabel        string         `env:"API_OIDC_LABEL" default:"single sign-on" help:"what people call the issuer, on the login page"`
	OIDCDomains      []string       `env:"API_OIDC_DOMAINS" help:"domains of the e-mail addresses that may come in by single sign-on for the first time, such as example.com; empty: any"`
	OIDCNewRole      string         `env:"API_OIDC_NEW_ROLE" oneof:"viewer,editor" help:"role of people of these domains who were not invited; empty: they do not come in"`
	OIDCAllowCIDRs   []netip.Prefix `env:"API_OIDC_ALLOW_CIDRS" help:"private ranges that the issuer may be in; it may then be http://, too"`
	SetupLinkFile    string         `env:"API_SETUP_LINK_FILE" help:"file to write the one-time set-up link to, readable by its owner alone"`
}

func loadConfig(getenv func(string) string) (Config, error) {
	var cfg Config
	var found envconf.Error
	err := envconf.Load(getenv, &cfg)
	if all, ok := errors.AsType[*envconf.Error](err); ok {
		found = *all
	}
	if cfg.PublicURL == "" {
		cfg.PublicURL = "http://localhost:" + strconv.Itoa(cfg.Port)
	}
	cfg.PublicURL = strings.TrimRight(cfg.PublicURL, "/")
	if u, err := url.Parse(cfg.PublicURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		found.Mistakes = append(found.Mistakes, fmt.Sprintf("API_PUBLIC_URL: %q is not an http:// or https:// URL", cfg.PublicURL))
	}
	if _, err := databaseurl.Parse(cfg.DatabaseURL.Reveal()); err != nil && !cfg.DatabaseURL.IsZero() { // the error may quote the password
		found.Mistakes = append(found.Mistakes, "DATABASE_URL: not a URL such as postgres://user:password@host/name or sqlite:PATH")
	}
	if _, err := parseExempt(cfg.HostsExempt); err != nil {
		found.Mistakes = append(found.Mistakes, "API_HOST_RATE_EXEMPT: "+err.Error())
	}
	for name, address := range map[string]secret.Text{"API_DEADMAN_URL": cfg.DeadmanURL, "API_DEADMAN_FAIL_URL": cfg.DeadmanFail} {
		if u, err := url.Parse(address.Reveal()); !address.IsZero() && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") { // who knows it can keep the alarm silent
			found.Mistakes = append(found.Mistakes, name+": not an http:// or https:// URL")
		}
	}
	if cfg.SMTPURL.IsZero() != (cfg.SMTPFrom == "") {
		found.Mistakes = append(found.Mistakes, "API_SMTP_URL and API_SMTP_FROM go together")
	} else if _, err := notify.Server(cfg.SMTPURL, cfg.SMTPFrom); err != nil && !cfg.SMTPURL.IsZero() { // the error does not quote the password
		found.Mistakes = append(found.Mistakes, "API_SMTP_URL, API_SMTP_FROM: "+err.Error())
	}
	if cfg.DeadmanURL.IsZero() && !cfg.DeadmanFail.IsZero() {
		found.Mistakes = append(found.Mistakes, "API_DEADMAN_FAIL_URL: needs API_DEADMAN_URL too: who is told only while something is wrong does not notice that nobody is left to tell")
	}
	found.Mistakes = append(found.Mistakes, cfg.judgeOIDC()...)
	slices.Sort(found.Mistakes)
	if len(found.Mistakes) > 0 {
		return cfg, &found
	}
	return cfg, nil
}

func (c Config) listenAddress() string { return net.JoinHostPort(c.Bind, strconv.Itoa(c.Port)) }
