package probe

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/probefleet/probefleet/internal/uptime"
)

// What a URL may say of the port; any other number is the one it means when it says none.
const (
	portNamed = 0  // must be named
	portNone  = -1 // may not be named
)

// parseEndpoint reads scheme://host[:port]. Whatever else a URL can hold means nothing to
// kinds that are no web, and is refused. Errors quote nothing of the URL: it may hold secrets.
func parseEndpoint(b blueprint, scheme string, port int) (endpoint, error) {
	u, err := url.Parse(b.url)
	if err != nil {
		return endpoint{}, errors.New("this URL cannot be visited: it is malformed")
	}
	switch {
	case u.Scheme != scheme || u.Opaque != "":
		return endpoint{}, fmt.Errorf("this URL cannot be visited: it does not begin with %s://", scheme)
	case u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return endpoint{}, errors.New("this URL cannot be visited: it has more than a host and a port")
	case port == portNamed && u.Port() == "":
		return endpoint{}, errors.New("this URL cannot be visited: the port is missing")
	case port == portNone && u.Host != hostHeader(u.Hostname(), ""):
		return endpoint{}, errors.New("this URL cannot be visited: it has a port, and the check has no use for one")
	}
	at, err := takeApart(u)
	if err != nil {
		return endpoint{}, fmt.Errorf("this URL cannot be visited: %w", err)
	}
	if u.Port() == "" {
		at.port = uint16(max(port, 0))
	}
	return endpoint{host: at.host, ip: at.ip, port: at.port, family: b.spec.Family}, nil
}

// refuseOthers is the error of a spec that has parts although those of its own kind were
// taken out: to leave out what they demand would be to call up what may be down.
func refuseOthers(spec uptime.Spec) error {
	switch {
	case spec.TLS != nil:
		return errors.New("a check of this kind does not begin with TLS: that is the kind tls, or STARTTLS")
	case spec.HTTP != nil, spec.TCP != nil, spec.DNS != nil, spec.WebSocket != nil:
		return errors.New("its spec has parts of another kind of check")
	}
	return nil
}
