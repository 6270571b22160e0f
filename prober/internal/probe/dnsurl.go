package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
	"golang.org/x/net/idna"
)

// dnsTypes are the records that may be asked for.
var dnsTypes = [...]string{"A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"}

// dnsTarget is a dns URL taken apart.
type dnsTarget struct {
	server   string   // host and port as in the URL; empty: the prober's own
	at       endpoint // of the server; port 0 when the URL names none
	kind     string   // such as MX
	question dns.Question
	shown    string // the URL, for people
}

var (
	errDNSScheme = errors.New("the scheme is not dns")
	errDNSName   = errors.New("the name to ask for is missing or malformed")
	errDNSServer = errors.New("the server is malformed")
)

// parseDNS reads dns://[server[:port]]/name?type=MX (RFC 4501 §3), also without the
// authority. The type is A unless it says otherwise, the class IN. An address whose PTR
// record is asked for stands for its reverse name.
func parseDNS(text string) (dnsTarget, error) {
	u, err := url.Parse(text)
	if err != nil {
		return dnsTarget{}, errors.New("it is malformed") // the error would quote the URL
	}
	if u.Scheme != "dns" {
		return dnsTarget{}, errDNSScheme
	}
	var t dnsTarget
	if err := t.readServer(u); err != nil {
		return dnsTarget{}, err
	}
	if t.kind, err = queriedType(u.RawQuery); err != nil {
		return dnsTarget{}, err
	}
	name := strings.TrimPrefix(u.Path, "/")
	if u.Opaque != "" {
		if name, err = url.PathUnescape(u.Opaque); err != nil {
			return dnsTarget{}, errDNSName
		}
	}
	t.question.Qtype, t.question.Qclass = dns.StringToType[t.kind], dns.ClassINET
	if t.question.Name, err = askedName(name, t.kind); err != nil {
		return dnsTarget{}, err
	}
	shown := url.URL{Path: "/" + strings.TrimSuffix(t.question.Name, "."), RawQuery: "type=" + t.kind}
	t.shown = "dns://" + t.server + shown.String()
	return t, nil
}

func (t *dnsTarget) readServer(u *url.URL) error {
	if u.User != nil {
		return errors.New("a user or password cannot be sent")
	}
	if t.server = u.Host; t.server == "" {
		return nil
	}
	if text := u.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return errDNSServer
		}
		t.at.port = uint16(port)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		t.at.ip, t.at.host = ip, ip.WithZone("").String()
		return nil
	}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return errDNSServer
	}
	t.at.host = host
	return nil
}

// queriedType reads the query, whose elements stand between semicolons (RFC 4501 §3), or
// ampersands as in other URLs.
func queriedType(query string) (string, error) {
	kind, class := "", ""
	for element := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == ';' || r == '&' }) {
		name, value, _ := strings.Cut(element, "=")
		value = strings.ToUpper(value)
		switch {
		case strings.EqualFold(name, "type") && kind == "" && slices.Contains(dnsTypes[:], value):
			kind = value
		case strings.EqualFold(name, "class") && class == "" && (value == "IN" || value == "1"):
			class = value
		default:
			return "", fmt.Errorf("after the ? there is type= with one of %s, and nothing else", strings.Join(dnsTypes[:], ", "))
		}
	}
	if kind == "" {
		kind = "A"
	}
	return kind, nil
}

// askedName gives the name absolute, in the form in which answers have it too.
func askedName(name, kind string) (string, error) {
	if addr, err := netip.ParseAddr(name); err == nil && kind == "PTR" {
		return dns.ReverseAddr(addr.WithZone("").Unmap().String())
	}
	labels := strings.Split(name, ".")
	for i, label := range labels {
		if strings.IndexFunc(label, func(r rune) bool { return r >= 0x80 }) < 0 {
			continue
		}
		ascii, err := idna.Lookup.ToASCII(label)
		if err != nil {
			return "", errDNSName
		}
		labels[i] = ascii
	}
	packed, err := packQuestion(dns.Question{Name: dns.Fqdn(strings.Join(labels, ".")), Qtype: dns.TypeA, Qclass: dns.ClassINET}, false)
	var m dns.Msg
	if name == "" || err != nil || m.Unpack(packed) != nil || len(m.Question) != 1 {
		return "", errDNSName
	}
	return m.Question[0].Name, nil
}
