package probe

import (
	"slices"
	"strings"

	"github.com/probefleet/probefleet/internal/uptime"
)

// imap is RFC 9051 §6.2.1, after the capabilities were asked for (§6.1.1).
func (t *clearTalk) imap() trouble {
	line, err := t.line()
	if err == nil && !isWord(line, "* OK") && !isWord(line, "* PREAUTH") && !isWord(line, "* BYE") { // §7.1
		err = errBabble
	}
	switch {
	case err != nil:
		return t.trouble(err, "the greeting", "")
	case !isWord(line, "* OK"):
		return t.trouble(nil, "", "the server does not take connections that are to be secured")
	}
	status, offers, err := t.command("a1", "CAPABILITY")
	if err != nil || status != "OK" {
		return t.trouble(err, "the answer to CAPABILITY", "the server refuses CAPABILITY")
	}
	if !offers {
		return failed(uptime.FailureProtocol, "the server does not offer STARTTLS")
	}
	if status, _, err := t.command("a2", "STARTTLS"); err != nil || status != "OK" {
		return t.trouble(err, "the answer to STARTTLS", "the server refuses STARTTLS")
	}
	return trouble{}
}

// command asks, and takes lines until the tagged one that answers. BYE is a status too:
// the server closes. offers says whether STARTTLS was among the capabilities.
func (t *clearTalk) command(tag, name string) (status string, offers bool, err error) {
	if err := t.say(tag + " " + name); err != nil {
		return "", false, err
	}
	for {
		line, err := t.line()
		if err != nil {
			return "", false, err
		}
		head, rest, _ := strings.Cut(line, " ")
		switch {
		case head == "*" && isWord(rest, "BYE"):
			return "BYE", offers, nil
		case head == "*" && isWord(rest, "CAPABILITY"):
			offers = slices.ContainsFunc(strings.Fields(rest), func(word string) bool { return strings.EqualFold(word, "STARTTLS") })
		case head == "*":
		case head == tag:
			for _, status := range []string{"OK", "NO", "BAD"} {
				if isWord(rest, status) {
					return status, offers, nil
				}
			}
			return "", false, errBabble
		default:
			return "", false, errBabble
		}
	}
}

// isWord says whether a line begins with these words, in any case.
func isWord(line, words string) bool {
	return len(line) >= len(words) && strings.EqualFold(line[:len(words)], words) && (len(line) == len(words) || line[len(words)] == ' ')
}
