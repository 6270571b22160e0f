package lab

import (
	"bufio"
	"context"
	"io"
	"strings"
	"time"
)

const greeting = "220 lab ready\r\n"

// tcpSites are the servers without a protocol.
func tcpSites() map[string]opener {
	return map[string]opener{
		"tcp":        conns("tcp", (*Lab).lines),
		"tcp-banner": conns("tcp", greets(greeting)),
		"tcp-binary": conns("tcp", greets("220 \x00\x1b[2J\xff\xfe<script>\u202e\r\n")),
		"tcp-split": conns("tcp", func(l *Lab, c *conn) {
			_, err := io.WriteString(c, greeting[:6])
			if err == nil && l.wait(context.Background(), 20*time.Millisecond) {
				greets(greeting[6:])(l, c)
			}
		}),
		"tcp-silent": conns("tcp", func(_ *Lab, c *conn) { swallow(c) }),
		"tcp-close":  conns("tcp", func(*Lab, *conn) {}),
		"tcp-reset":  conns("tcp", func(_ *Lab, c *conn) { reset(c) }),
		"tcp-drip":   conns("tcp", func(l *Lab, c *conn) { l.trickle(c, -1, 100*time.Millisecond) }),
		"tcp-flood":  conns("tcp", func(_ *Lab, c *conn) { flood(c) }),
	}
}

func greets(with string) func(*Lab, *conn) {
	return func(l *Lab, c *conn) {
		if _, err := io.WriteString(c, with); err == nil {
			l.lines(c)
		}
	}
}

// lines does what each line of the client says.
func (l *Lab) lines(c *conn) {
	in := bufio.NewScanner(c)
	in.Buffer(nil, 4096)
	for in.Scan() {
		word, rest, _ := strings.Cut(strings.TrimSuffix(in.Text(), "\r"), " ")
		first, second, _ := strings.Cut(rest, " ")
		var err error
		switch word {
		case "echo":
			_, err = io.WriteString(c, rest+"\n")
		case "slow":
			if delay, bad := time.ParseDuration(first); bad != nil || !l.wait(context.Background(), delay) {
				return
			}
			_, err = io.WriteString(c, second+"\n")
		case "send":
			_, err = io.CopyN(c, zeros{}, int64(atoi(first)))
		case "drip":
			every, bad := time.ParseDuration(second)
			if bad != nil {
				return
			}
			l.trickle(c, atoi(first), every)
		case "flood":
			flood(c)
		case "silence":
			swallow(c)
			return
		case "close":
			return
		case "reset":
			reset(c)
			return
		default:
			_, err = io.WriteString(c, "unknown\n")
		}
		if err != nil {
			return
		}
	}
}

// trickle sends count bytes, endlessly many if it is negative.
func (l *Lab) trickle(c *conn, count int, every time.Duration) {
	for i := 0; i != count; i++ {
		if _, err := io.WriteString(c, "x"); err != nil || !l.wait(context.Background(), every) {
			return
		}
	}
}

func flood(c *conn) {
	_ = c.SetWriteBuffer(32 << 10)
	more := []byte(strings.Repeat(filler, 32))
	for {
		if _, err := c.Write(more); err != nil {
			return
		}
	}
}
