package resolve

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

const maxServers = 8

// Protocol is how a server is asked.
type Protocol string

// UDP falls back to TCP for what is too long (RFC 1035 §4.2, RFC 7766), TLS is RFC 7858, HTTPS RFC 8484.
const (
	UDP   Protocol = "udp"
	TLS   Protocol = "tls"
	HTTPS Protocol = "https"
)

// Config is where a prober asks for names. The zero value is the system's choice:
// the servers of /etc/resolv.conf, and /etc/hosts before them.
type Config struct {
	Servers []Server // in the order to try them; none: the system's
}

// Server is one server and how to ask it.
type Server struct {
	Protocol Protocol
	Host     string // an address; for TLS and HTTPS also a name, which the system looks up
	Port     uint16
	Name     string // what a TLS server's certificate must be for
	Path     string // of HTTPS
}

// String gives the server as Parse takes it.
func (s Server) String() string {
	host := s.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	host += ":" + strconv.Itoa(int(s.Port))
	switch s.Protocol {
	case TLS:
		if s.Name != s.Host {
			host += "#" + s.Name
		}
		return "tls://" + host
	case HTTPS:
		return "https://" + strings.TrimSuffix(host, ":443") + s.Path
	}
	return host
}

// String gives the choice as Parse takes it.
func (c Config) String() string {
	if len(c.Servers) == 0 {
		return "system"
	}
	texts := make([]string, len(c.Servers))
	for i, s := range c.Servers {
		texts[i] = s.String()
	}
	return strings.Join(texts, ",")
}

// Parse reads a choice of servers: "system" (also ""), or a list of
//
//	1.1.1.1  [2606:4700::1111]:53           over UDP, and TCP for long answers
//	tls://1.1.1.1  tls://host:853#name      over TLS; name is the certificate's, default the host
//	https://host/dns-query                  over HTTPS
//
// The error names every mistake.
func Parse(text string) (Config, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.EqualFold(text, "system") {
		return Config{}, nil
	}
	var c Config
	var mistakes []error
	seen := map[Server]bool{}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		server, err := parseServer(item)
		switch {
		case err != nil:
			mistakes = append(mistakes, fmt.Errorf("%q: %w", item, err))
		case seen[server]:
			mistakes = append(mistakes, fmt.Errorf("%q is named twice", item))
		default:
			c.Servers = append(c.Servers, server)
		}
		seen[server] = err == nil
	}
	if len(c.Servers) > maxServers {
		mistakes = append(mistakes, fmt.Errorf("%d servers are more than %d", len(c.Servers), maxServers))
	}
	if len(mistakes) > 0 {
		return Config{}, errors.Join(mistakes...)
	}
	return c, nil
}

func parseServer(text string) (Server, error) {
	scheme, _, hasScheme := strings.Cut(text, "://")
	switch {
	case text == "":
		return Server{}, errors.New("an empty place in the list")
	case strings.EqualFold(text, "system"):
		return Server{}, errors.New("system stands alone: its servers are those of /etc/resolv.conf")
	case !hasScheme:
		return parsePlain(text)
	case strings.EqualFold(scheme, "tls"):
		return parseTLS(text)
	case strings.EqualFold(scheme, "https"):
		return parseHTTPS(text)
	case strings.EqualFold(scheme, "http"):
		return Server{}, errors.New("HTTP without TLS is not spoken: use https://")
	}
	return Server{}, fmt.Errorf("%s:// is not spoken: use an address, tls:// or https://", scheme)
}

func parsePlain(text string) (Server, error) {
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
		if err != nil {
			return Server{}, errors.New("not an address such as 1.1.1.1 or [2606:4700::1111]:53; a server that has a name is asked by tls:// or https://")
		}
		at = netip.AddrPortFrom(addr, 53)
	}
	if err := usable(at.Addr()); err != nil {
		return Server{}, err
	}
	if at.Port() == 0 {
		return Server{}, errors.New("port 0 cannot be asked")
	}
	return Server{Protocol: UDP, Host: at.Addr().Unmap().String(), Port: at.Port()}, nil
}

func usable(addr netip.Addr) error {
	if addr.IsUnspecified() || addr.IsMulticast() || addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return fmt.Errorf("%v is nobody's address", addr)
	}
	return nil
}

func parseTLS(text string) (Server, error) {
	u, s, err := parseURL(text, TLS, 853)
	if err != nil {
		return Server{}, err
	}
	if u.Path != "" && u.Path != "/" {
		return Server{}, errors.New("a path is no part of tls://host:port#name")
	}
	s.Name = s.Host
	if strings.Contains(text, "#") {
		if s.Name, err = ParseHost(u.Fragment); err != nil {
			return Server{}, fmt.Errorf("the name of the certificate: %w", err)
		}
	}
	return s, nil
}

func parseHTTPS(text string) (Server, error) {
	u, s, err := parseURL(text, HTTPS, 443)
	switch {
	case err != nil:
		return Server{}, err
	case strings.Contains(text, "#"):
		return Server{}, errors.New("no #name: the certificate must be the host's")
	case u.Path == "" || u.Path == "/":
		return Server{}, errors.New("its path is missing, usually /dns-query")
	case strings.ContainsAny(u.Path, "{}"):
		return Server{}, errors.New("give the URL without its template {?dns}")
	}
	s.Name, s.Path = s.Host, u.EscapedPath()
	return s, nil
}

// parseURL reads what tls:// and https:// have in common.
func parseURL(text string, protocol Protocol, port uint16) (*url.URL, Server, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, Server{}, errors.New("not a URL") // the parser's own words repeat the text, password and all
	}
	if u.User != nil {
		return nil, Server{}, errors.New("a user or password cannot be sent")
	}
	if u.RawQuery != "" || u.ForceQuery {
		return nil, Server{}, errors.New("a query cannot be sent")
	}
	if text := u.Port(); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return nil, Server{}, fmt.Errorf("%s is no port", text)
		}
		port = uint16(n)
	}
	host, err := ParseHost(u.Hostname())
	if err != nil {
		return nil, Server{}, err
	}
	return u, Server{Protocol: protocol, Host: host, Port: port}, nil
}

// ParseHost takes an address or a name.
func ParseHost(text string) (string, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Unmap().String(), usable(addr)
	}
	if why := misnamed(normal(text)); why != "" {
		return "", fmt.Errorf("%q is neither an address nor a host name: %s", text, why)
	}
	return normal(text), nil
}
