package canary

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/probefleet/probefleet/prober/internal/resolve"
)

const (
	bound       = 2 * time.Second // of the visit of a canary
	maxCanaries = 20
	maxAddrs    = 4 // of a name that are tried
)

// None as a setting switches all of it off.
const None = "none"

// Canary is what can always be reached.
type Canary struct {
	host string // an address, or a name as IDNA leaves it
	port uint16
}

// String is host:port.
func (c Canary) String() string { return net.JoinHostPort(c.host, strconv.Itoa(int(c.port))) }

// Parse reads a setting: host:port, comma separated, or none.
func Parse(text string) ([]Canary, error) {
	if strings.TrimSpace(text) == None {
		return nil, nil
	}
	var list []Canary
	var mistakes []error
	seen := map[Canary]bool{}
	for one := range strings.SplitSeq(text, ",") {
		c, err := parse(strings.TrimSpace(one))
		switch {
		case err != nil:
			mistakes = append(mistakes, fmt.Errorf("%q: %w", strings.TrimSpace(one), err))
		case seen[c]:
			mistakes = append(mistakes, fmt.Errorf("%v is named twice", c))
		}
		seen[c] = true
		list = append(list, c)
	}
	if len(list) > maxCanaries {
		mistakes = append(mistakes, fmt.Errorf("%d canaries are more than %d", len(list), maxCanaries))
	}
	return list, errors.Join(mistakes...)
}

func parse(text string) (Canary, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Canary{}, errors.New("not host:port such as one.one.one.one:443, nor the single word none")
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return Canary{}, fmt.Errorf("%s is no port", port)
	}
	if host, err = resolve.ParseHost(host); err != nil {
		return Canary{}, err
	}
	return Canary{host, uint16(number)}, nil
}

// Names looks names up without a cache. *resolve.Resolver is one.
type Names interface {
	LookupAnew(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error)
}

// visit connects to the canary once, and gives the address that answered. The address guard of targets is not asked: what is
// dialled is what the operator named, and nothing is sent.
func (c Canary) visit(ctx context.Context, names Names) (netip.Addr, error) {
	addrs, err := c.addresses(ctx, names)
	if err != nil {
		return netip.Addr{}, err
	}
	for i, addr := range addrs {
		if err = c.connect(ctx, addr, len(addrs)-i); err == nil {
			return addr, nil
		}
	}
	return netip.Addr{}, err
}

func (c Canary) isName() bool {
	_, err := netip.ParseAddr(c.host)
	return err != nil
}

func (c Canary) addresses(ctx context.Context, names Names) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(c.host); err == nil {
		return []netip.Addr{addr}, nil
	}
	answer, err := names.LookupAnew(ctx, c.host, resolve.Both)
	if err != nil {
		return nil, err
	}
	return answer.Addrs[:min(len(answer.Addrs), maxAddrs)], nil
}

// connect gives one address its share of the time that is left.
func (c Canary) connect(ctx context.Context, addr netip.Addr, left int) error {
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
	defer cancel()
	dialer := net.Dialer{KeepAlive: -1}
	conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, c.port).String())
	if err != nil {
		return err
	}
	_ = conn.Close()
	return nil
}

// why says in a few words what a visit ended in.
func why(err error) string {
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return "no answer in time"
	}
	if code, ok := errors.AsType[syscall.Errno](err); ok {
		return code.Error()
	}
	return err.Error()
}
