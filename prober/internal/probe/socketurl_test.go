package probe

import (
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestSocketURLsShowNoSecrets(t *testing.T) {
	t.Parallel()
	e := New(options(nil))
	for _, url := range []string{"tcp://user:hunter2@127.0.0.1:25", "tcp://127.0.0.1:25?k=hunter2", "tcp://127.0.0.1:25#hunter2", "tls://hunter2 x/", "icmp://u:hunter2@127.0.0.1", "icmp://127.0.0.1:25hunter2"} {
		o := e.Look(t.Context(), checkAt(url, uptime.Spec{}))
		if verify(t, o, uptime.ReasonInternal, 0); strings.Contains(o.Message, "hunter2") {
			t.Errorf("%s: %q", url, o.Message)
		}
	}
}

func TestSecretsAreNotQuoted(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	for _, check := range []uptime.Check{
		tcpCheck(t, l, "tcp", sends("echo my hunter2 word\n", hears("equals", "x")...)),
		tcpCheck(t, l, "smtp-busy", starts(uptime.StartTLSSMTP)),
	} {
		p := e.plans.of(&check)
		p.secrets = []string{"hunter2", "busy"}
		o := e.Look(t.Context(), check)
		if o.Status != uptime.StatusDown || !strings.Contains(o.Message, "[secret]") || !strings.Contains(o.Evidence.Received, "[secret]") {
			t.Errorf("%q, %q", o.Message, o.Evidence.Received)
		}
	}
}

func TestTCPCommands(t *testing.T) {
	t.Parallel()
	e := New(options(nil))
	for want, check := range map[string]uptime.Check{
		`nc -v -w 10 '127.0.0.1' 25`:                                      checkAt("tcp://127.0.0.1:25", uptime.Spec{}),
		`printf 'it'\''s 100%% \\ \303\251\r\n' | nc -v -4 'a.test' 6379`: checkAt("tcp://a.test:6379", uptime.Spec{TCP: &uptime.TCPSpec{Send: "it's 100% \\ é\r\n"}, Family: uptime.FamilyV4}),
		`openssl s_client -connect 'a.test:25' -servername 'a.test' -verify_return_error -verify_hostname 'a.test' -starttls 'smtp' </dev/null`: checkAt("tcp://a.test:25", starts(uptime.StartTLSSMTP)),
		`printf 'QUIT\r\n' | openssl s_client -connect '127.0.0.1:21' -verify_return_error -verify_ip '127.0.0.1' -starttls 'ftp' -quiet`:       checkAt("tcp://127.0.0.1:21", uptime.Spec{TCP: &uptime.TCPSpec{StartTLS: uptime.StartTLSFTP, Send: "QUIT\r\n"}}),
		`openssl s_client -connect '[::1]:443' -servername 'b.test' -6 </dev/null`:                                                              checkAt("tls://[::1]", uptime.Spec{TLS: &uptime.TLSSpec{ServerName: "b.test", SkipVerify: true}, Family: uptime.FamilyV6}),
		`ping -c 3 -6 'a.test'`: checkAt("icmp://a.test", uptime.Spec{Family: uptime.FamilyV6}),
	} {
		if got := visitorOf(t, e, check).command(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
