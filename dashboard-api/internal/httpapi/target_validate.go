package httpapi

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	maxName    = 120
	maxURL     = 2048
	maxRegions = 20
	maxRanges  = 20
)

var regionName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// surroundings are what a target is judged against besides itself.
type surroundings struct {
	regions []string       // known ones
	open    []netip.Prefix // private ranges that some prober may dial
}

// newTarget is a target before anything was said about it.
func newTarget() uptime.Target {
	return uptime.Target{Kind: uptime.KindHTTP, Interval: uptime.DefaultInterval, Active: true}
}

// merge lays an input over a target: absent members stay, nulls become defaults.
// It answers every mistake; with one or more of them the target must not be used.
func merge(t *uptime.Target, in TargetInput, null nulls, around surroundings) []Mistake {
	m := merger{target: t, around: around}
	m.url(in.URL, null["url"])
	m.name(in.Name, null["name"])
	m.kind(in.Kind, null["kind"])
	m.interval(in.IntervalS, null["interval_s"])
	m.timeout(in.TimeoutMS, null["timeout_ms"])
	m.regions(in.Regions, null["regions"])
	if in.Active != nil || null["active"] {
		t.Active = in.Active == nil || *in.Active
	}
	m.expect(in.Expect, null["expect"] || null["expect/status"])
	return m.found
}

type merger struct {
	target *uptime.Target
	around surroundings
	found  []Mistake
}

func (m *merger) mistake(pointer, code, format string, args ...any) {
	m.found = append(m.found, Mistake{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (m *merger) url(in *string, null bool) {
	if in == nil {
		if null || m.target.URL == "" {
			m.mistake("/url", codeRequired, "a target needs a url")
		}
		return
	}
	text, code, message := cleanURL(*in, m.around.open)
	if code != "" {
		m.mistake("/url", code, "%s", message)
		return
	}
	m.target.URL = text
}

// cleanURL judges a URL as far as that is possible without looking anything up.
// Names are judged by the prober, at each dial.
func cleanURL(text string, open []netip.Prefix) (cleaned, code, message string) {
	text = strings.TrimSpace(text)
	if len(text) > maxURL {
		return "", codeTooLong, fmt.Sprintf("a url has at most %d bytes", maxURL)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) || !utf8.ValidString(text) {
		return "", codeInvalidURL, "a url has no spaces or control characters in it"
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", codeInvalidURL, "this is not a url: write it like https://example.com/health"
	}
	if scheme := strings.ToLower(u.Scheme); scheme != "http" && scheme != "https" {
		return "", codeURLScheme, "only http:// and https:// urls can be checked"
	}
	if u.User != nil {
		return "", codeURLCredentials, "a url must not hold a user name or password: it would be shown to everyone who can see the target"
	}
	host := u.Hostname()
	if port := u.Port(); host == "" || u.Opaque != "" || strings.HasSuffix(u.Host, ":") || port != "" && !goodPort(port) {
		return "", codeInvalidURL, "a url needs a host, and a port from 1 to 65535 if any"
	}
	code, message = judgeHost(host, open)
	if code != "" || asciiName(host) || isAddress(host) {
		return text, code, message
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || !asciiName(ascii) {
		return "", codeInvalidURL, "this host is not a valid name"
	}
	// Some letters are written as digits: the name that is dialled is judged, not only the one that was typed.
	if code, message = judgeHost(ascii, open); code != "" {
		return "", code, message
	}
	u.Host = strings.Replace(u.Host, host, ascii, 1) // probers dial the name as the DNS knows it
	return u.String(), "", ""
}

// judgeHost refuses addresses and names that no prober may dial; what it cannot tell, it lets pass.
func judgeHost(host string, open []netip.Prefix) (code, message string) {
	allowed := guard.New(open)
	if addr, err := netip.ParseAddr(host); err == nil {
		if !allowed.Allows(addr.WithZone("")) {
			return codePrivateAddress, "this is a private or special address, and no prober may dial it: open its range with PROBER_ALLOW_CIDRS on a prober"
		}
		return "", ""
	}
	switch {
	case loopbackName(host) && !allowed.Allows(netip.MustParseAddr("127.0.0.1")) && !allowed.Allows(netip.IPv6Loopback()):
		return codePrivateAddress, "this name means the prober's own machine, and no prober may dial it: open 127.0.0.0/8 with PROBER_ALLOW_CIDRS on a prober"
	case endsInNumber(host):
		return codeInvalidURL, "write an IPv4 address as four numbers, such as 192.0.2.1"
	}
	return "", ""
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// asciiName accepts what the DNS can hold, underscores included (real hosts have them).
func asciiName(host string) bool {
	if len(host) > 254 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 || strings.Trim(strings.ToLower(label), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

func goodPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && port >= 1 && port <= 65535
}

func (m *merger) name(in *string, null bool) {
	given := in != nil && strings.TrimSpace(*in) != ""
	switch {
	case given:
		name := strings.TrimSpace(*in)
		switch {
		case utf8.RuneCountInString(name) > maxName:
			m.mistake("/name", codeTooLong, "a name has at most %d characters", maxName)
		case strings.ContainsFunc(name, unicode.IsControl):
			m.mistake("/name", codeInvalidText, "a name has no control characters in it")
		default:
			m.target.Name = name
		}
	case in != nil || null || m.target.Name == "":
		m.target.Name = defaultName(m.target.URL)
	}
}

// defaultName is the host and path of a URL.
func defaultName(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return shorten(strings.ToValidUTF8(u.Host+strings.TrimSuffix(u.EscapedPath(), "/"), ""), maxName)
}

func (m *merger) kind(in *string, null bool) {
	if in != nil && *in != string(uptime.KindHTTP) {
		m.mistake("/kind", codeUnknownKind, "the kind is http")
	} else if in != nil || null {
		m.target.Kind = uptime.KindHTTP
	}
}

func (m *merger) interval(in *int64, null bool) {
	switch {
	case in != nil:
		if least, most := int64(uptime.MinInterval/time.Second), int64(uptime.MaxInterval/time.Second); *in < least || *in > most {
			m.mistake("/interval_s", codeInterval, "an interval is from %d to %d seconds", least, most)
			return
		}
		m.target.Interval = time.Duration(*in) * time.Second
	case null:
		m.target.Interval = uptime.DefaultInterval
	}
}

// timeout keeps one that was set; a new target, and null, get the interval's default.
func (m *merger) timeout(in *int64, null bool) {
	switch {
	case in != nil:
		if least, most := uptime.MinTimeout.Milliseconds(), uptime.MaxTimeout.Milliseconds(); *in < least || *in > most {
			m.mistake("/timeout_ms", codeTimeout, "a timeout is from %d to %d milliseconds", least, most)
			return
		}
		m.target.Timeout = time.Duration(*in) * time.Millisecond
	case null || m.target.Timeout == 0:
		m.target.Timeout = uptime.DefaultTimeout(m.target.Interval)
	}
}

func (m *merger) regions(in []string, null bool) {
	if in == nil {
		if null {
			m.target.Regions = nil
		}
		return
	}
	if len(in) > maxRegions {
		m.mistake("/regions", codeTooLong, "a target has at most %d regions", maxRegions)
		return
	}
	for i, region := range in {
		pointer := "/regions/" + strconv.Itoa(i)
		switch {
		case !regionName.MatchString(region):
			m.mistake(pointer, codeUnknownRegion, "a region's name is 1 to 32 of a-z, 0-9 and -")
		case slices.Contains(m.target.Regions, region): // it has it already: a retired region may stay
		case !slices.Contains(m.around.regions, region):
			m.mistake(pointer, codeUnknownRegion, "there is no region %s; known: %s", region, known(m.around.regions))
		}
	}
	wanted := slices.Clone(in)
	slices.Sort(wanted)
	m.target.Regions = slices.Compact(wanted)
}

func known(regions []string) string {
	if len(regions) == 0 {
		return "none yet (start a prober, or leave regions empty to be checked from all)"
	}
	return strings.Join(regions, ", ")
}

func (m *merger) expect(in *ExpectInput, null bool) {
	if null {
		m.target.Spec.Expect = uptime.Expect{}
	}
	if in == nil || in.Status == nil {
		return
	}
	if len(in.Status) > maxRanges {
		m.mistake("/expect/status", codeTooLong, "at most %d status ranges", maxRanges)
		return
	}
	var ranges []uptime.StatusRange
	for i, text := range in.Status {
		r, err := uptime.ParseStatusRange(text)
		if err != nil {
			m.mistake("/expect/status/"+strconv.Itoa(i), codeStatusRange, "want a code or a range of codes from 100 to 599, such as 204 or 200-399")
		}
		ranges = append(ranges, r)
	}
	m.target.Spec.Expect.Status = ranges
}
