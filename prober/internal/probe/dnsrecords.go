package probe

import (
	"errors"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/probefleet/probefleet/internal/uptime"
)

// udpPayload is the size of answers over UDP that is offered: never fragmented
// (dnsflagday.net/2020).
const udpPayload = 1232

// packQuestion writes a query with the id 0 that asks for recursion.
func packQuestion(question dns.Question, edns bool) ([]byte, error) {
	m := &dns.Msg{Question: []dns.Question{question}}
	m.RecursionDesired = true
	if edns {
		m.SetEdns0(udpPayload, false)
	}
	packed, err := m.Pack()
	if err != nil {
		return nil, errDNSName
	}
	return packed, nil
}

// readAnswer takes a message apart, and says why it is no answer to the question.
func readAnswer(raw []byte, id uint16, question dns.Question) (*dns.Msg, error) {
	m := new(dns.Msg)
	err := m.Unpack(raw)
	switch {
	case len(raw) < 12:
		return nil, errNoMessage
	case m.Id != id:
		return nil, errOtherID
	case !m.Response || m.Opcode != dns.OpcodeQuery:
		return nil, errNoMessage
	case !repeats(m, question):
		return nil, errOtherQuestion
	case m.Truncated:
		return m, nil // what else is in it is of no use
	case err != nil:
		return nil, errUnreadable
	}
	return m, nil
}

// Why a message is no answer. Of all but the last, others than the server may have sent it.
var (
	errNoMessage     = errors.New("it was no DNS answer")
	errOtherID       = errors.New("it had another id")
	errOtherQuestion = errors.New("it answered another question")
	errUnreadable    = errors.New("the answer is malformed")
)

// repeats says whether the message holds the question. Servers that could not read it, or
// would not, may leave it out.
func repeats(m *dns.Msg, question dns.Question) bool {
	if len(m.Question) == 0 {
		return m.Rcode == dns.RcodeFormatError || m.Rcode == dns.RcodeRefused || m.Rcode == dns.RcodeNotImplemented
	}
	echoed := m.Question[0]
	return len(m.Question) == 1 && echoed.Qtype == question.Qtype && echoed.Qclass == question.Qclass && strings.EqualFold(echoed.Name, question.Name)
}

// isReferral says whether the server only knows who may know (RFC 1034 §4.3.2).
func isReferral(m *dns.Msg) bool {
	if m.Authoritative || m.RecursionAvailable || len(m.Answer) > 0 {
		return false
	}
	for _, record := range m.Ns {
		if record.Header().Rrtype == dns.TypeNS {
			return true
		}
	}
	return false
}

// sawAnswer keeps the code, and the records of the name and of what its aliases lead to.
func (s *sighting) sawAnswer(m *dns.Msg, question dns.Question) {
	s.Rcode = rcodeName(m.Rcode)
	owners := ownersOf(question.Name, m.Answer)
	s.Records = map[string][]string{}
	for _, record := range m.Answer {
		header := record.Header()
		if header.Class != dns.ClassINET || !owners[strings.ToLower(header.Name)] {
			continue
		}
		kind := dns.Type(header.Rrtype).String()
		data := dataOf(record)
		s.Records[kind] = append(s.Records[kind], data)
		if len(s.records) < maxEvidenceRecords {
			s.records = append(s.records, uptime.Record{Type: kind, Data: data, TTL: lifetime(header.Ttl)})
		}
	}
}

// maxAliases is how far a chain of aliases is followed, as resolvers do.
const maxAliases = 16

// ownersOf gives a name and its aliases' targets, in lower case.
func ownersOf(name string, records []dns.RR) map[string]bool {
	name = strings.ToLower(name)
	owners := map[string]bool{name: true}
	for range maxAliases {
		for _, record := range records {
			if alias, ok := record.(*dns.CNAME); ok && strings.EqualFold(alias.Hdr.Name, name) {
				name = strings.ToLower(alias.Target)
				break
			}
		}
		if owners[name] {
			break
		}
		owners[name] = true
	}
	return owners
}

// dataOf is what a zone file has after the type; the strings of a text are one, without
// quotes and escapes (RFC 7208 §3.3).
func dataOf(record dns.RR) string {
	text, ok := record.(*dns.TXT)
	if !ok {
		return strings.TrimPrefix(record.String(), record.Header().String())
	}
	return unescaped(strings.Join(text.Txt, ""))
}

// unescaped undoes the escapes of RFC 1035 §5.1.
func unescaped(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		if i+3 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+4], 10, 8); err == nil {
				out = append(out, byte(code))
				i += 3
				continue
			}
		}
		i++
		out = append(out, text[i])
	}
	return string(out)
}

// lifetime reads a TTL in seconds: with its highest bit set it is zero (RFC 2181 §8).
func lifetime(ttl uint32) uint32 {
	if ttl > 1<<31-1 {
		return 0
	}
	return ttl
}

// rcodeName is the name of a response code (RFC 6895 §2.3).
func rcodeName(code int) string {
	if code == dns.RcodeBadVers { // 16 is BADSIG in other places
		return "BADVERS"
	}
	if name, known := dns.RcodeToString[code]; known {
		return name
	}
	return "RCODE" + strconv.Itoa(code)
}
