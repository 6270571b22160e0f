package probe

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2/hpack"

	"github.com/probefleet/probefleet/internal/uptime"
)

// h2Block unpacks headers, which may come in many frames. They are counted as unpacked:
// names, values and 32 bytes a line (RFC 9113 §6.5.2).
type h2Block struct {
	decoder *hpack.Decoder
	fields  []hpack.HeaderField
	size    int
	empty   int  // fragments without anything in them
	ends    bool // the answer ends with these headers
}

func (b *h2Block) begin() {
	b.decoder = hpack.NewDecoder(4096, func(field hpack.HeaderField) {
		if b.size += int(field.Size()); b.size <= maxHeaders {
			b.fields = append(b.fields, field)
		}
	})
	b.decoder.SetMaxStringLength(maxHeaders)
}

// write takes in a fragment.
func (b *h2Block) write(fragment []byte, last bool) trouble {
	_, err := b.decoder.Write(fragment)
	if err == nil && last {
		err = b.decoder.Close()
	}
	if len(fragment) == 0 {
		b.empty++
	}
	switch {
	case b.size > maxHeaders, errors.Is(err, hpack.ErrStringLength), b.empty > maxH2Extra:
		return failed(uptime.FailureTooLarge, errHeadersTooLarge.Error())
	case err != nil:
		return unlawful("headers that cannot be unpacked")
	}
	return trouble{}
}

// read gives the headers and the status, 0 when there is none, and makes room for others.
func (b *h2Block) read() (fields http.Header, status int, bad trouble) {
	fields = http.Header{}
	for _, field := range b.fields {
		switch {
		case field.Name == ":status" && status == 0 && len(fields) == 0:
			code, err := strconv.ParseUint(field.Value, 10, 16)
			if err != nil || code < 100 || code > 999 {
				return nil, 0, unlawful("an answer without a status")
			}
			status = int(code)
		case !httpguts.ValidHeaderFieldName(field.Name) || field.Name != strings.ToLower(field.Name) || !httpguts.ValidHeaderFieldValue(field.Value):
			return nil, 0, unlawful("a header that may not be (RFC 9113 §8.2.1)")
		case ofConnections(field.Name):
			return nil, 0, unlawful("the header " + field.Name + " (RFC 9113 §8.2.2)")
		default:
			fields.Add(field.Name, field.Value)
		}
	}
	b.fields = b.fields[:0]
	return fields, status, trouble{}
}

// ofConnections says whether a header belongs to HTTP/1.1.
func ofConnections(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		return true
	}
	return false
}
