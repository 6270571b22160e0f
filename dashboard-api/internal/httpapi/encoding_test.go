package httpapi

import (
	"net/http"
	"testing"
)

func TestGzipOnlyForWhoTakesIt(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "x-gzip": true, "br, gzip ; q=0.5": true, "deflate": false, "not-gzip": false,
		"gzip;q=0": false, "gzip; Q=0.000": false, "gzip;q=0, *": false, "gzip;q=0.001": true, "gzip;q=x": false, "gzip;q=NaN": false, "gzip;q=2": false,
		"*": true, "*;q=0": false, "*;q=0, gzip": true, "identity": false, "identity, *;q=0": false,
		"identity;q=0, *": true, "identity;q=0": false, "identity, gzip;q=0.5": false, "identity;q=0.5, gzip": true, "identity, gzip": true,
	} {
		if got := takesGzip(http.Header{"Accept-Encoding": {header}}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
	if !takesGzip(http.Header{"Accept-Encoding": {"br", "gzip"}}) || takesGzip(http.Header{}) {
		t.Error("of several lines, or none")
	}
}
