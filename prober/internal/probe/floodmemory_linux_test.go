package probe

import (
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Many hostile answers at a time, over the versions of HTTP that others read for us, make the
// process little larger each. A body is kept as far as it is read, which is a MiB, by who has a rule
// about it; of anything else nothing is.
func TestManyFloodsAtOnceTakeLittleMemory(t *testing.T) {
	if isBombed(t) {
		return
	}
	t.Parallel()
	l := startLab(t)
	for name, b := range manyFloods(t, l) {
		b.Together, b.Check.Timeout, b.Fine.Timeout = 20-15*racing, time.Minute, time.Minute // the race detector is slow, too
		if b.Want[0] == uptime.FailureTimeout {
			b.Check.Timeout = 2 * time.Second
		}
		most := 1 << 10
		if spec := string(b.Check.Spec); strings.Contains(spec, "body") {
			most = 4 << 10
		}
		b.take(t, name, most)
	}
}

// manyFloods are hostile answers over HTTP/2 and HTTP/3, and to both kinds that speak HTTP/2.
func manyFloods(t *testing.T, l *lab.Lab) map[string]bombing {
	t.Helper()
	trusting := &uptime.TLSSpec{SkipVerify: true} // the authority is another process's
	web := func(version uptime.HTTPVersion, url string, rules ...string) uptime.Check {
		check, spec := checkOf(url), wanting(rules...)
		spec.HTTP, spec.TLS = &uptime.HTTPSpec{Version: version}, trusting
		check.Spec = spec.Text()
		return check
	}
	health := func(url string) uptime.Check { return grpcCheck(url, uptime.Spec{TLS: trusting}) }
	all := map[string]bombing{}
	two, three := urlOf(t, l, "h2"), startHTTP3(t, l, l)
	fine2, fine3 := web(uptime.HTTP2, two+"/ok"), web(uptime.HTTP3, three+"/ok")
	tooLarge := []uptime.Failure{uptime.FailureTooLarge}
	for _, path := range []string{"/bomb/gzip", "/bomb/br", "/bomb/zstd", "/bomb/endless", "/endless/chunked", "/headers/1000000"} {
		const whole = "body - not_contains never there"
		all["HTTP/2 "+path] = bombing{Check: web(uptime.HTTP2, two+path, whole), Fine: fine2, Want: tooLarge}
		all["HTTP/3 "+path] = bombing{Check: web(uptime.HTTP3, three+path, whole), Fine: fine3, Want: tooLarge}
	}
	stalled := []uptime.Failure{uptime.FailureTimeout}
	all["HTTP/2 /bomb/stalled"] = bombing{Check: web(uptime.HTTP2, two+"/bomb/stalled", "body - contains x"), Fine: fine2, Want: stalled}
	all["HTTP/3 /bomb/stalled"] = bombing{Check: web(uptime.HTTP3, three+"/bomb/stalled", "body - contains x"), Fine: fine3, Want: stalled}
	for path, want := range hostileFrames() {
		switch {
		case strings.HasSuffix(path, "-flood"), path == "/hpack-bomb", path == "/unfinished", path == "/overflow", path == "/empty-data", path == "/big-frame":
		default:
			continue
		}
		web := bombing{Check: web(uptime.HTTP2, urlOf(t, l, "h2-hostile")+path), Fine: fine2, Want: []uptime.Failure{want.http.failure}}
		if want.or != nil {
			web.Want = append(web.Want, want.or.failure)
		}
		all["HTTP/2 "+path] = web
		all["gRPC "+path] = bombing{Check: health("grpcs://" + labAt(t, l, "h2-hostile") + path), Fine: health("grpcs://" + labAt(t, l, "h2") + "/serving"), Want: []uptime.Failure{want.grpc.failure}}
	}
	for name, harm := range harms3() {
		if name == "goaways" || name == "empty data" { // they keep twenty readers busy for long, byte by byte
			continue
		}
		url := serve3(t, certificateOf(t, l, "tls"), "h3", harm.do)
		all["HTTP/3 "+name] = bombing{Check: web(uptime.HTTP3, url), Fine: fine3, Want: []uptime.Failure{harm.want.failure}}
	}
	return all
}
