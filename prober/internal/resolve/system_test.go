package resolve

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestResolvConf(t *testing.T) {
	t.Parallel()
	own := []Server{{UDP, "127.0.0.1", 53, "", ""}, {UDP, "::1", 53, "", ""}}
	for text, want := range map[string][]Server{
		"":                              own,
		"search example.com\noptions x": own,
		"# nameserver 1.1.1.1\n;nameserver 1.1.1.1\nnameserver dns.google\nnameserver":                                           own,
		"nameserver 1.1.1.1\r\n  nameserver\t2606:4700::1111 # one\nnameserver 1.1.1.1\nsearch a b\noptions ndots:5 timeout:9\n": {{UDP, "1.1.1.1", 53, "", ""}, {UDP, "2606:4700::1111", 53, "", ""}},
		"nameserver 1.1.1.1\nnameserver 1.1.1.2\nnameserver 1.1.1.3\nnameserver 1.1.1.4":                                         {{UDP, "1.1.1.1", 53, "", ""}, {UDP, "1.1.1.2", 53, "", ""}, {UDP, "1.1.1.3", 53, "", ""}},
		"nameserver 0.0.0.0\nnameserver fe80::1%eth0":                                                                            {{UDP, "127.0.0.1", 53, "", ""}, {UDP, "fe80::1%eth0", 53, "", ""}},
	} {
		if diff := cmp.Diff(want, parseResolvConf([]byte(text))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestHostsFile(t *testing.T) {
	t.Parallel()
	known := parseHosts([]byte("127.0.0.1 localhost\n::1\tlocalhost ip6-localhost # one\n#9.9.9.9 commented\n10.0.0.1 Db.Example. db\n10.0.0.2 db.example\nnonsense db\n::ffff:10.0.0.3 mapped\n10.0.0.4"))
	for name, want := range map[string]string{"localhost": "127.0.0.1 ::1", "ip6-localhost": "::1", "db.example": "10.0.0.1 10.0.0.2", "db": "10.0.0.1", "mapped": "10.0.0.3", "commented": "", "nonsense": ""} {
		if got := written(append(append([]netip.Addr{}, known[name][0]...), known[name][1]...)); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The system's files are followed as they change, and hosts comes before any server.
func TestSystemsChoice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s := newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) { return address(q, "0"), nil })
		var dialled []string
		r := build(Config{}, options(), func(to Server) transport {
			dialled = append(dialled, to.String())
			return s
		})
		t.Cleanup(r.Close)
		r.reachable = func(netip.Addr) bool { return true }
		r.resolvConf = watched{path: filepath.Join(folder, "resolv.conf")}
		r.hostsFile = watched{path: filepath.Join(folder, "hosts")}
		dialled = nil

		if got := want(t, r, "db.example", V4, "9.9.9.9"); got.Server != "127.0.0.1:53" { // neither file is there
			t.Errorf("%+v", got)
		}
		write("resolv.conf", "search example.com\nnameserver 10.0.0.1\n")
		write("hosts", "10.1.1.1 db.example\n::1 db.example\n")
		time.Sleep(lookEvery)
		if got := want(t, r, "db.example", Both, "::1 10.1.1.1"); got.Server != "hosts file" || !got.Cached {
			t.Errorf("%+v", got)
		}
		want(t, r, "db.example", V6, "::1")
		if got := want(t, r, "db", V4, "9.9.9.9"); got.Server != "10.0.0.1:53" || s.count("db. A") != 1 || s.count("db.example.com. A") != 0 { // absolute
			t.Errorf("%+v; asked %v", got, s.asked)
		}
		kept := r.servers.Load().list[0]
		write("resolv.conf", "nameserver 10.0.0.2\nnameserver 10.0.0.1\n")
		write("hosts", "10.1.1.1 other.example\n")
		time.Sleep(lookEvery - time.Millisecond)
		want(t, r, "db.example", Both, "::1 10.1.1.1") // not looked at yet
		time.Sleep(time.Millisecond)
		if got := want(t, r, "db.example", V4, "9.9.9.9"); got.Server != "10.0.0.2:53" {
			t.Errorf("%+v", got)
		}
		if states := r.State(); len(states) != 2 || states[0].Server != "10.0.0.2:53" || r.servers.Load().list[1] != kept {
			t.Errorf("%+v", states)
		}
		if diff := cmp.Diff([]string{"127.0.0.1:53", "[::1]:53", "10.0.0.1:53", "10.0.0.2:53"}, dialled); diff != "" {
			t.Error(diff)
		}
		if kind, what := fails(t, r, t.Context(), "other.example", V6); kind != "not found" || what != "the host name has no IPv6 address" {
			t.Error(kind, what)
		}
	})
}

func TestSystemIsTheDefault(t *testing.T) {
	t.Parallel()
	r := New(Config{}, options())
	defer r.Close()
	if len(r.State()) == 0 {
		t.Error("no servers")
	}
	if got, err := r.Lookup(t.Context(), "localhost", Both); err != nil || !got.Addrs[0].IsLoopback() {
		t.Errorf("%+v, %v", got, err)
	}
}
