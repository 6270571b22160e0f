package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestExemptHosts(t *testing.T) {
	t.Parallel()
	hosts, err := parseExempt([]string{"Mine.Example.", ".sub.example", "bücher.example", "8.8.4.0/24", "1.1.1.1", "2606:4700::1111"})
	if err != nil {
		t.Fatal(err)
	}
	announced := []netip.Prefix{}
	exempt := hosts.with(func() []netip.Prefix { return announced })
	for host, want := range map[string]bool{
		"mine.example": true, "a.mine.example": false, "xmine.example": false, "sub.example": false, "a.sub.example": true, "b.a.sub.example": true, "asub.example": false,
		"xn--bcher-kva.example": true, "8.8.4.4": true, "8.8.8.8": false, "1.1.1.1": true, "1.1.1.2": false, "2606:4700::1111": true, "2606:4700::1112": false,
		// Nobody dials these unless an operator opened them.
		"127.0.0.1": true, "10.1.2.3": true, "::1": true, "localhost": true, "a.localhost": true, "169.254.169.254": true,
		"": false, "example.com": false,
	} {
		if exempt(host) != want {
			t.Errorf("%s: exempt %v", host, !want)
		}
	}
	announced = append(announced, netip.MustParsePrefix("8.8.8.0/24"))
	if !exempt("8.8.8.8") {
		t.Error("a range that a prober announces is not exempt")
	}
}

func TestExemptHostsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"*.example.com", "https://example.com", "example.com:80", "example.com/a", ".", "", "user@example.com", "10.0.0.0/33", "a b"} {
		if hosts, err := parseExempt([]string{text}); err == nil {
			t.Errorf("%q: %+v", text, hosts)
		}
	}
	env := map[string]string{
		"DATABASE_URL": testbackend.SQLite(t), "REDIS_URL": "redis://127.0.0.1:1", "CLICKHOUSE_URL": "clickhouse://127.0.0.1:1/x", "SECRET_KEY": strings.Repeat("k", 32),
		"API_HOST_RATE_EXEMPT": "example.com, https://example.org", "API_HOST_RATE": "-1",
	}
	_, err := loadConfig(func(name string) string { return env[name] })
	if err == nil || !strings.Contains(err.Error(), "API_HOST_RATE_EXEMPT") || !strings.Contains(err.Error(), "API_HOST_RATE is too small") {
		t.Error(err)
	}
	env["API_HOST_RATE_EXEMPT"], env["API_HOST_RATE"] = "", ""
	if cfg, err := loadConfig(func(name string) string { return env[name] }); err != nil || cfg.HostRate != 5 {
		t.Errorf("%v, %v", cfg.HostRate, err)
	}
}
