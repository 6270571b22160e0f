package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// address is a URL taken apart for a visit.
type address struct {
	secure bool
	host   string     // ASCII, without port or brackets: dialled and named in TLS
	ip     netip.Addr // valid when the host is a literal address
	port   uint16
	header string // value of the Host header
	uri    string // request target: path and query
}

var (
	errScheme = errors.New("the scheme is not http or https")
	errHost   = errors.New("the host is missing or malformed")
)

func checkScheme(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" {
		return errScheme
	}
	return nil
}

func parseTarget(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is malformed") // the error would quote the URL and any secret in it
	}
	if err := checkScheme(u); err != nil {
		return nil, err
	}
	if _, err := takeApart(u); err != nil {
		return nil, err
	}
	return u, nil
}

// takeApart checks everything that ends up on the wire, so that no URL can add a
// header or a second request. User information is never sent.
func takeApart(u *url.URL) (address, error) {
	u.RawQuery = escapedQuery(u.RawQuery)
	at := address{secure: u.Scheme == "https", uri: u.RequestURI(), port: 80}
	if at.secure {
		at.port = 443
	}
	if text := u.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return address{}, errHost
		}
		at.port = uint16(port)
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		at.ip, at.host, at.header = ip, ip.WithZone("").String(), shared(hostHeader(ip.WithZone("").String(), u.Port()), u.Host)
		return at, nil
	}
	host, err := asciiHost(host)
	if err != nil {
		return address{}, err
	}
	at.host, at.header = host, shared(hostHeader(host, u.Port()), u.Host)
	return at, nil
}

// escapedQuery is a query as it is sent: what may not stand in one (RFC 3986 §3.4) is
// escaped, as browsers do. Servers refuse a blank, and some of them the rest.
func escapedQuery(query string) string {
	var out strings.Builder
	from := 0
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			fmt.Fprintf(&out, "%s%%%02X", query[from:i], c)
			from = i + 1
		}
	}
	if from == 0 {
		return query
	}
	return out.String() + query[from:]
}

func hostHeader(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return host
}

// shared is a text, or the equal one that is kept anyway: a prober has a hundred thousand targets.
func shared(text, kept string) string {
	if text == kept {
		return kept
	}
	return text
}

// asciiHost gives the name as DNS, TLS and the Host header want it.
func asciiHost(host string) (string, error) {
	plain := true
	for i := range len(host) {
		c := host[i]
		if c >= 0x80 {
			plain = false
		} else if c <= ' ' || c == 0x7f || strings.IndexByte(`"#%/<>?@[\]^{|}:`+"`", c) >= 0 {
			return "", errHost
		}
	}
	if !plain {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", errHost
		}
		host = ascii
	}
	if host == "" || len(host) > 254 {
		return "", errHost
	}
	return host, nil
}
