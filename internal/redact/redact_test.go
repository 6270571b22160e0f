package redact

import "testing"

func TestShown(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text    string
		secrets []string
		limit   int
		want    string
	}{
		{"plain", nil, 5, "plain"},
		{"plainly", nil, 6, "pla…"},
		{"", nil, 5, ""},
		{"ééé", nil, 5, "é…"},
		{"a\x00b\x1b[31m\u202ec\u2028d\u00a0", nil, 20, "a b [31m c d "},
		{"\r\n\tx", nil, 10, `\r\n\tx`},
		{"a\xffb\xe2\x82", nil, 10, "a?b??"},
		{"my hunter2!", []string{"hunter2", "hunt"}, 20, "my [secret]!"},
		{"abcdef", []string{"abcd", "cdef"}, 20, "[secret]"},
		{"xababababx", []string{"ab", "ba"}, 20, "x[secret]x"},
		{"12345hunter2", []string{"hunter2"}, 10, "12345…"},
		{"123456789hunter2", []string{"hunter2"}, 12, "123456789…"},
		{"hunter", []string{"hunter2"}, 12, "hunter"},
	}
	for _, c := range cases {
		if got := Text(c.text, c.secrets, c.limit); got != c.want {
			t.Errorf("%q is shown %q, want %q", c.text, got, c.want)
		}
		if got := Text([]byte(c.text), c.secrets, c.limit); got != c.want {
			t.Errorf("the bytes of %q are shown %q, want %q", c.text, got, c.want)
		}
	}
}

func TestFirstPartOfAText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"my hunter2!":   "my [secret]!",
		"my hunter":     "my [secret]",
		"my h":          "my [secret]",
		"hunter, mine":  "hunter, mine",
		"hunter2hunter": "[secret][secret]",
		"":              "",
	} {
		secrets := []string{"hunter2"}
		if got := TextCut(text, secrets, 40); got != want {
			t.Errorf("%q is shown %q, want %q", text, got, want)
		}
		if got := HideCut(text, secrets); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestTextsThatEndWithinASecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text       string
		secrets    []string
		whole, cut string
	}{
		{"my hunter2", []string{"hunter2"}, "my [secret]", "my [secret]"},
		{"my hun", []string{"hunter2"}, "my hun", "my [secret]"},
		{"my hunter2 hun", []string{"hunter2"}, "my [secret] hun", "my [secret] [secret]"},
		{"hunt my hun!", []string{"hunter2"}, "hunt my hun!", "hunt my hun!"},
		{"xabcde", []string{"abcd", "cdef"}, "x[secret]e", "x[secret]"},
		{"xaba", []string{"abab"}, "xaba", "x[secret]"},
		{"h", []string{"hunter2"}, "h", "[secret]"},
		{"", []string{"hunter2"}, "", ""},
		{"plain", nil, "plain", "plain"},
	} {
		if whole, cut := Hide(c.text, c.secrets), HideCut(c.text, c.secrets); whole != c.whole || cut != c.cut {
			t.Errorf("%q is shown %q, and cut %q", c.text, whole, cut)
		}
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"https://a.example":                    "https://a.example",
		"https://u:p@a.example/x@y?q=1&r&=&#z": "https://a.example/x@y?q=…&…&=…&",
		"//u@h":                                "//h",
		"/x?code=abc":                          "/x?code=…",
		"?opaque":                              "?…",
		"x#y?z":                                "x",
		"https://u:p@@h?x//y":                  "https://h?…",
		"https://u:p@h//e@x/?=":                "https://h//e@x/?=…",
	} {
		if got := URL(link); got != want {
			t.Errorf("%s is shown %s, want %s", link, got, want)
		}
	}
}

func TestNamesThatAreNoSecrets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"content-type", "x-author", "etag", "key", "age", "x-keyboard", "authenticated"} {
		if Name(name) {
			t.Errorf("%s counts as secret", name)
		}
	}
}
