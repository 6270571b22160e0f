package uptime

import (
	"reflect"
	"strings"
	"testing"
)

// FuzzSpecText reads specs from the stream: what was read is written, and reads the same
// again; equal specs are equal texts.
func FuzzSpecText(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"expect":{"status":["200-299","404"]}}`, `{"http":{"method":"POST","headers":[{"name":"A","secret":"s1.a.b"}],"redirects":0}}`, `{"tcp":{"send_secret":"s1.a.b","starttls":"smtp"}}`,
		`{"assertions":[{"source":"body","op":"contains","value":"<b>"}],"family":"6"}`, `{"dns":null,"tls":{}}`, `{"wish":1}`, `{"expect":{"status":["+200"]}}`, `{} {}`, `{"websocket":{"subprotocols":["\ud800"]}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := SpecText(text).Spec()
		if err != nil {
			if !reflect.DeepEqual(s, Spec{}) {
				t.Fatalf("%q: %+v with %v", text, s, err)
			}
			return
		}
		written := s.Text()
		again, err := written.Spec()
		if err != nil || again.Text() != written || strings.ContainsAny(string(written), "\r\n") {
			t.Fatalf("%q is written %q, which is written %q: %v", text, written, again.Text(), err)
		}
		for _, r := range again.Expect.Status {
			if r.From < 100 || r.To > 599 || r.From > r.To {
				t.Fatalf("%q has the range %v", text, r)
			}
		}
	})
}

// FuzzStatusRange reads ranges of status codes: there is one way to write each, but for a
// single code.
func FuzzStatusRange(f *testing.F) {
	for _, text := range []string{"204", "200-399", "+200", "0200", "200-+299", "599-100", "200-200", "200-", "٢٠٠"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseStatusRange(text)
		if err != nil {
			return
		}
		again, err := ParseStatusRange(r.String())
		if err != nil || again != r || r.From < 100 || r.To > 599 || r.From > r.To {
			t.Fatalf("%q is %+v, which is %+v: %v", text, r, again, err)
		}
		if r.String() != text && (r.From != r.To || text != r.String()+"-"+r.String()) {
			t.Fatalf("%q is read as %s", text, r)
		}
	})
}
