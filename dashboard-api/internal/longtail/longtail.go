// Package longtail reaches the services that have no kind of channel of their own, by the
// library shoutrrr. Its services dial as they like, through the default client of the process,
// and some fail with a panic: so each message is sent by a process of its own, in which
// the default transport judges every address when it is dialled, follows no redirect and
// notes what was said. Only services that were seen to go that way are offered (a test).
package longtail

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/googlechat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/lark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/rocketchat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/signal"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/wecom"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/zulip"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/bark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ifttt"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/join"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushbullet"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/notifiarr"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// Argument is the one argument of a process that is to send a message.
const Argument = "send-longtail-message"

// service is one of the library's.
type service struct {
	build  func() types.Service
	config func() types.ServiceConfig
	titled bool // it shows titles apart from texts
}

// services by the scheme of their addresses.
func services() map[string]service {
	return map[string]service{
		"bark":       {func() types.Service { return &bark.Service{} }, func() types.ServiceConfig { return &bark.Config{} }, true},
		"googlechat": {func() types.Service { return &googlechat.Service{} }, func() types.ServiceConfig { return &googlechat.Config{} }, false},
		"ifttt":      {func() types.Service { return &ifttt.Service{} }, func() types.ServiceConfig { return &ifttt.Config{} }, false},
		"join":       {func() types.Service { return &join.Service{} }, func() types.ServiceConfig { return &join.Config{} }, true},
		"lark":       {func() types.Service { return &lark.Service{} }, func() types.ServiceConfig { return &lark.Config{} }, true},
		"matrix":     {func() types.Service { return &matrix.Service{} }, func() types.ServiceConfig { return &matrix.Config{} }, false},
		"notifiarr":  {func() types.Service { return &notifiarr.Service{} }, func() types.ServiceConfig { return &notifiarr.Config{} }, false},
		"pushbullet": {func() types.Service { return &pushbullet.Service{} }, func() types.ServiceConfig { return &pushbullet.Config{} }, true},
		"rocketchat": {func() types.Service { return &rocketchat.Service{} }, func() types.ServiceConfig { return &rocketchat.Config{} }, false},
		"signal":     {func() types.Service { return &signal.Service{} }, func() types.ServiceConfig { return &signal.Config{} }, false},
		"wecom":      {func() types.Service { return &wecom.Service{} }, func() types.ServiceConfig { return &wecom.Config{} }, false},
		"zulip":      {func() types.Service { return &zulip.Service{} }, func() types.ServiceConfig { return &zulip.Config{} }, false},
	}
}

// Services are the schemes of the services there are.
func Services() []string { return slices.Sorted(maps.Keys(services())) }

// Scheme is the service that an address names; "" where there is none such.
func Scheme(address string) string {
	scheme, _, _ := strings.Cut(address, ":")
	if _, known := services()[scheme]; !known {
		return ""
	}
	return scheme
}

// Order is a message, and where it goes.
type Order struct {
	Address     string // as shoutrrr writes it; the whole of it is secret
	Title, Text string
}

// Sender starts the processes.
type Sender struct {
	Command   []string          // this program with Argument
	Allow     []netip.Prefix    // ranges that are reached although they are not public
	Endpoints map[string]string // of hosts, where they are somewhere else: for tests
}

// Exchange is a request of a service, and what was answered.
type Exchange struct {
	Method, URL string
	Sent        string
	Status      int // 0: there was no answer
	StatusText  string
	RetryAfter  string
	Answer      string
	Took        time.Duration
	Trouble     string
	Blocked     bool // the address is not allowed
}

// Outcome is how it went. Nothing in it is free of secrets.
type Outcome struct {
	Exchanges []Exchange
	Trouble   string // "": the service took it
}

// work is what the process is given.
type work struct {
	Order     Order
	Allow     []netip.Prefix
	Endpoints map[string]string
}

// mostSaid bounds what a process answers.
const mostSaid = 1 << 20

// Send has a message sent, until ctx ends. The error is about the process.
func (s *Sender) Send(ctx context.Context, o Order) (done Outcome, err error) {
	given, err := json.Marshal(work{o, s.Allow, s.Endpoints})
	if err != nil {
		return done, err
	}
	said := &bounded{most: mostSaid}
	command := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...) //nolint:gosec // this program itself
	command.Stdin, command.Stdout, command.WaitDelay = bytes.NewReader(given), said, time.Second
	command.Env = []string{}
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} { // all that it has of the environment
		if value, set := os.LookupEnv(name); set {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	err = command.Run()
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	if err != nil {
		return done, fmt.Errorf("the process that sends ended: %w", err)
	}
	return done, json.Unmarshal(said.Bytes(), &done)
}

// bounded keeps what fits.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errors.New("too much was said")
	}
	return b.Buffer.Write(p)
}

// Check says whether an address is one that its service can read. It dials nothing, and makes no
// service: some sign in when they are made. The error may repeat secrets of the address.
func Check(address string) (err error) {
	u, known, err := read(address)
	if err != nil {
		return err
	}
	defer func() { // of the library
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%v", cause)
		}
	}()
	return known.config().SetURL(u)
}

func read(address string) (*url.URL, service, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, service{}, err
	}
	known, found := services()[u.Scheme]
	if !found {
		return nil, service{}, fmt.Errorf("no service %q", u.Scheme)
	}
	return u, known, nil
}

// quiet is a log that nobody reads: what services write there holds secrets.
type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}
