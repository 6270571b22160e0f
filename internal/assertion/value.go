package assertion

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

// rcodes are the DNS response codes that may be asked for (RFC 6895 §2.3).
var rcodes = [...]string{"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH", "NOTZONE", "BADVERS", "BADCOOKIE"}

// value judges the Value of an assertion and keeps it in the form evaluation needs.
func (b *builder) value(c *check, kind uptime.ValueType, value string) {
	switch {
	case kind == uptime.ValueNone:
		if value != "" {
			b.problem(fieldValue, CodeNotAllowed, "%s takes no value: leave it out", c.op)
		}
		return
	case len(value) > MaxValue:
		b.problem(fieldValue, CodeTooLong, "a value has at most %d bytes", MaxValue)
		return
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		b.problem(fieldValue, CodeInvalidText, "a value is UTF-8 text without NUL characters")
		return
	case value == "" && c.op != uptime.OpEquals && c.op != uptime.OpNotEquals:
		b.problem(fieldValue, CodeRequired, "%s needs a value", c.op)
		return
	}
	c.text = value
	switch kind {
	case uptime.ValueText:
		c.raw = []byte(value)
		if c.source == uptime.SourceDNS {
			c.text = recordText(c.name, value)
		}
	case uptime.ValueTexts:
		c.list = b.items(value)
	case uptime.ValueJSONText:
		c.text = compactJSON(value)
	case uptime.ValueJSONTexts:
		c.list = b.items(value)
	case uptime.ValuePattern:
		b.pattern(c, value)
	case uptime.ValueNumber:
		if !isNumber(value) {
			b.problem(fieldValue, CodeInvalidValue, "want a number, such as 5 or -2.5e3")
		}
	case uptime.ValueDNSText, uptime.ValueDNSTexts:
		b.records(c, value)
	case uptime.ValueAddress, uptime.ValueAddresses:
		b.addresses(c, value)
	case uptime.ValueStatuses:
		b.statuses(c, value)
	case uptime.ValueHash:
		if sum, err := hex.DecodeString(value); err != nil || len(sum) != 32 {
			b.problem(fieldValue, CodeInvalidValue, "want a SHA-256 as 64 hexadecimal digits")
		}
		c.text = strings.ToLower(value)
	case uptime.ValueRcode, uptime.ValueRcodes:
		b.rcodes(c, value)
	default:
		b.ordinal(c, kind, value)
	}
}

// ordinal reads what is compared as a whole number.
func (b *builder) ordinal(c *check, kind uptime.ValueType, value string) {
	least, most, unit := int64(0), int64(MostBody), "bytes"
	switch {
	case kind == uptime.ValueHTTP:
		if c.number = protocolNumber(value); !slices.Contains([]int64{100, 101, 200, 300}, c.number) {
			b.problem(fieldValue, CodeInvalidValue, "want HTTP/1.0, HTTP/1.1, HTTP/2 or HTTP/3")
		}
		return
	case kind == uptime.ValueTLS:
		if c.number = tlsNumber(value); c.number == 0 {
			b.problem(fieldValue, CodeInvalidValue, "want 1.0, 1.1, 1.2 or 1.3")
		}
		return
	case kind == uptime.ValueMillis:
		least, most, unit = 1, uptime.MaxTimeout.Milliseconds(), "milliseconds"
	case kind == uptime.ValueStatus:
		least, most, unit = 100, 599, "as HTTP status codes go"
	case c.source == uptime.SourceCertificate:
		most, unit = maxDays, "days"
	}
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil || number < least || number > most || strconv.FormatInt(number, 10) != value {
		b.problem(fieldValue, CodeInvalidValue, "want a whole number from %d to %d, %s", least, most, unit)
		return
	}
	if c.number = number; kind == uptime.ValueMillis {
		c.number *= 1000 // as phases are counted
	}
}

// items splits a list. Empty items are dropped.
func (b *builder) items(value string) []string {
	var list []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	if list == nil || len(list) > maxItems {
		b.problem(fieldValue, CodeInvalidValue, "want 1 to %d items, separated by commas", maxItems)
		return nil
	}
	return list
}

func (b *builder) pattern(c *check, value string) {
	text := shortTextKiB
	switch c.source {
	case uptime.SourceBody, uptime.SourceJSON, uptime.SourceReceived:
		text = textKiB
	}
	compiled, err := compilePattern(value, b.costLeft/text)
	if errors.Is(err, errPatternSize) {
		b.problem(fieldValue, CodePatternCost, "the patterns of this target would take too long: of what they may cost together, %d instructions are left for this one; shorten it, repeat less, or use contains", b.costLeft/text)
		return
	}
	if err != nil {
		why := "it does not compile"
		if at, ok := errors.AsType[*syntax.Error](err); ok {
			why = string(at.Code) + " in " + redact.Text(at.Expr, nil, maxShownWant)
		}
		b.problem(fieldValue, CodeInvalidPattern, "this is not an RE2 pattern (those have no look-around and no back-references): %s", why)
		return
	}
	b.cost += compiled.size * text
	c.pattern = compiled
}

func (b *builder) statuses(c *check, value string) {
	for _, item := range b.items(value) {
		r, err := uptime.ParseStatusRange(item)
		if err != nil || r.String() != item {
			b.problem(fieldValue, CodeInvalidValue, "want codes and ranges of codes from 100 to 599, such as 200-299,301")
			return
		}
		c.ranges = append(c.ranges, r)
	}
}

func (b *builder) addresses(c *check, value string) {
	c.prefixes = nil
	single := c.op == uptime.OpEquals || c.op == uptime.OpNotEquals
	items := []string{value}
	if !single {
		items = b.items(value)
	}
	for _, item := range items {
		prefix, ok := parsePrefix(item)
		if !ok || single && !prefix.IsSingleIP() {
			example := "IP addresses and ranges, such as 192.0.2.0/24,2001:db8::1"
			if single {
				example = "one IP address, such as 192.0.2.1"
			}
			b.problem(fieldValue, CodeInvalidValue, "want %s", example)
			return
		}
		c.prefixes = append(c.prefixes, prefix)
	}
}

// parsePrefix reads an address or a range. An IPv4 address in IPv6 clothes is an IPv4 address.
func parsePrefix(text string) (netip.Prefix, bool) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, false
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	if prefix.Addr().Is4In6() {
		if prefix.Bits() < 96 {
			return netip.Prefix{}, false
		}
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	return prefix.Masked(), true
}

// records reads what DNS records are compared with.
func (b *builder) records(c *check, value string) {
	switch {
	case value == "":
		b.problem(fieldValue, CodeRequired, "%s needs a value", c.op)
	case isAddressType(c.name):
		b.addresses(c, value)
	case c.op == uptime.OpIn || c.op == uptime.OpNotIn:
		for _, item := range b.items(value) {
			c.list = append(c.list, recordText(c.name, item))
		}
	default:
		c.text = recordText(c.name, value)
	}
}

func (b *builder) rcodes(c *check, value string) {
	items := []string{value}
	if c.op == uptime.OpIn || c.op == uptime.OpNotIn {
		items = b.items(value)
	}
	for _, item := range items {
		item = strings.ToUpper(item)
		if !slices.Contains(rcodes[:], item) {
			b.problem(fieldValue, CodeInvalidValue, "a response code is one of: %s", strings.Join(rcodes[:], ", "))
			return
		}
		c.list = append(c.list, item)
	}
}

func isAddressType(name string) bool { return name == "A" || name == "AAAA" }

// recordText is the form in which records are compared.
func recordText(kind, text string) string {
	if !slices.Contains(nameTypes[:], kind) {
		return text
	}
	words := strings.Fields(strings.ToLower(text))
	for i, word := range words {
		words[i] = strings.TrimSuffix(word, ".")
	}
	return strings.Join(words, " ")
}

// protocolNumber is major × 100 + minor; 0 for what is no HTTP version.
func protocolNumber(text string) int64 {
	if text == "HTTP/2" || text == "HTTP/3" {
		text += ".0"
	}
	major, minor, ok := http.ParseHTTPVersion(text)
	if !ok {
		return 0
	}
	return int64(major*100 + minor)
}

// tlsNumber reads "1.2", "TLS 1.2" and "TLSv1.2"; 0 for anything else.
func tlsNumber(text string) int64 {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "TLS"), "v")
	switch strings.TrimPrefix(text, " ") {
	case "1.0":
		return tls.VersionTLS10
	case "1.1":
		return tls.VersionTLS11
	case "1.2":
		return tls.VersionTLS12
	case "1.3":
		return tls.VersionTLS13
	}
	return 0
}

// compactJSON drops the insignificant space of an object or array; other text stays as it is.
func compactJSON(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, []byte(trimmed)) != nil {
		return text
	}
	return out.String()
}
