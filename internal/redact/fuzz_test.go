package redact

import (
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzText hides two secrets in a text: neither is in what is shown, which is one line that
// keeps to its limit.
func FuzzText(f *testing.F) {
	f.Add("my hunter2!", "hunter2", "hunt", 20)
	f.Add("xababababx", "ab", "ba", 9)
	f.Add("abcdef", "abcd", "cdef", 100)
	f.Add("é\xff\r\n\u202e\x1b[31m", "é", "\xff", 8)
	f.Add("[secret]", "secret", "[secret]", 50)
	f.Add("aaa…", "…", "a…", 3)
	f.Fuzz(func(t *testing.T, text, first, second string, limit int) {
		if limit < len(Cut) || limit > 1<<10 || len(text) > 4<<10 {
			return
		}
		var secrets []string
		for _, secret := range []string{first, second} {
			if secret != "" && len(secret) < 1<<10 {
				secrets = append(secrets, secret)
			}
		}
		shown := Text(text, secrets, limit)
		if len(shown) > limit || !utf8.ValidString(shown) || strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q is shown %q", text, shown)
		}
		if again := Text([]byte(text), secrets, limit); again != shown {
			t.Fatalf("%q is shown %q, and its bytes %q", text, shown, again)
		}
		judgeHidden(t, text, secrets, Hide(text, secrets), false)
		judgeHidden(t, text, secrets, HideCut(text, secrets), true)
	})
}

// judgeHidden holds that what is shown is the text, with a mark, or several, in place of all
// that belongs to a secret and of nothing else.
func judgeHidden(t *testing.T, text string, secrets []string, shown string, cut bool) {
	t.Helper()
	hidden := make([]bool, len(text))
	for at := range len(text) {
		for _, secret := range secrets {
			if rest := text[at:]; strings.HasPrefix(rest, secret) || cut && strings.HasPrefix(secret, rest) {
				for i := range min(len(secret), len(rest)) {
					hidden[at+i] = true
				}
			}
		}
	}
	var want strings.Builder
	for i := range len(text) {
		if !hidden[i] {
			want.WriteByte(text[i])
		} else if i == 0 || !hidden[i-1] {
			want.WriteString(Secret)
		}
	}
	if one(shown) != one(want.String()) {
		t.Fatalf("%q is shown %q, want %q (cut: %v)", text, shown, want.String(), cut)
	}
}

// one makes one mark of several in a row.
func one(shown string) string {
	for strings.Contains(shown, Secret+Secret) {
		shown = strings.ReplaceAll(shown, Secret+Secret, Secret)
	}
	return shown
}

// FuzzURL shows where a URL leads, and no user, password, value of its query or fragment.
func FuzzURL(f *testing.F) {
	for _, link := range []string{"https://u:p@a.example/x@y?q=1&r&=&#z", "//u@h", "?opaque", "x#y?z", "https://u:p@@h?x//y", "http://h/?a=b;c=d", "http://h?a==b", "ws://h/a//b@c", "javascript:alert(1)//u@h?x=y"} {
		f.Add(link)
	}
	f.Fuzz(func(t *testing.T, link string) {
		shown := URL(link)
		if strings.Contains(shown, "#") || len(shown) > 5*len(link)+8 || URL(shown) != shown {
			t.Fatalf("%q is shown %q, and that is shown %q", link, shown, URL(shown))
		}
		was, err := url.Parse(link)
		if err != nil {
			return
		}
		is, err := url.Parse(shown)
		if err != nil || was.Host != "" && (is.Host != was.Host || is.Path != was.Path) || is.User != nil && is.User.String() != "" || is.Fragment != "" {
			t.Fatalf("%q is shown %q: %v", link, shown, err)
		}
		for part := range strings.SplitSeq(is.RawQuery, "&") {
			if name, value, valued := strings.Cut(part, "="); valued && value != "…" || !valued && name != "" && name != "…" {
				t.Fatalf("%q is shown %q", link, shown)
			}
		}
	})
}
