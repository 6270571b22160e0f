package httpapi

import (
	"time"

	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Check is a check on demand in answers and on the live channel.
type Check struct {
	ID            string            `json:"id"`
	URL           string            `json:"url"`
	Kind          string            `json:"kind"`
	TimeoutMS     int64             `json:"timeout_ms"`
	Regions       []string          `json:"regions" nullable:"false" doc:"empty while no region is known"`
	TargetID      nullable[int64]   `json:"target_id" doc:"the saved target that this is the preview of"`
	State         string            `json:"state" enum:"QUEUED,IN_PROGRESS,COMPLETED,FAILED_RETRYABLE,FAILED_PERMANENT" doc:"COMPLETED when some region measured, whether it is up or down; FAILED_RETRYABLE waits for its next attempt; FAILED_PERMANENT when no region measured and none will"`
	RetryCount    int               `json:"retry_count" doc:"attempts after the first, at most 3"`
	CreatedAt     instant           `json:"created_at"`
	UpdatedAt     instant           `json:"updated_at"`
	LastAttemptAt nullable[instant] `json:"last_attempt_at"`
	NextAttemptAt nullable[instant] `json:"next_attempt_at" doc:"only of a check that waits for one"`
	Error         string            `json:"error" doc:"why it failed, or which regions did not measure"`
	Results       []CheckResult     `json:"results" nullable:"false" doc:"the newest of each region that answered or should have"`
}

// CheckResult is what a region saw. What stands from status_line on is only in the answer
// to a question for one check.
type CheckResult struct {
	Region       string            `json:"region"`
	Prober       string            `json:"prober"`
	Attempt      int               `json:"attempt"`
	CheckedAt    nullable[instant] `json:"checked_at" doc:"null when nobody answered"`
	Status       string            `json:"status" enum:"up,degraded,down,unknown,missed"`
	Failure      string            `json:"failure" doc:"what was wrong at the target"`
	Reason       string            `json:"reason" doc:"why there is no measurement"`
	Message      string            `json:"message"`
	HTTPStatus   int               `json:"http_status"`
	DNSUS        uint32            `json:"dns_us"`
	DNSCached    bool              `json:"dns_cached" doc:"no name had to be looked up"`
	ConnectUS    uint32            `json:"connect_us"`
	TLSUS        uint32            `json:"tls_us"`
	WaitUS       uint32            `json:"wait_us"`
	TransferUS   uint32            `json:"transfer_us"`
	TotalUS      uint32            `json:"total_us"`
	Address      string            `json:"address"`
	Protocol     string            `json:"protocol"`
	WireBytes    uint32            `json:"wire_bytes" doc:"of the body, as sent"`
	BodyBytes    uint32            `json:"body_bytes" doc:"of the body, decoded"`
	Saturated    bool              `json:"saturated" doc:"the prober was too busy for the times to be exact"`
	CertNotAfter nullable[instant] `json:"cert_not_after" doc:"when the first certificate of the chain expires"`

	StatusLine    string               `json:"status_line,omitempty"`
	Headers       []headerLine         `json:"headers,omitempty" doc:"of the last answer; the values of those whose names tell that they are secret are hidden"`
	Cookies       []string             `json:"cookies,omitempty" doc:"names of the cookies that the last answer set; their values are not kept"`
	PageSource    string               `json:"page_source,omitempty" doc:"the beginning of the body, at most 4 KiB"`
	PageSourceCut bool                 `json:"page_source_cut,omitempty"`
	Received      string               `json:"received,omitempty" doc:"by a tcp or websocket check; the beginning, at most 4 KiB"`
	ReceivedCut   bool                 `json:"received_cut,omitempty" doc:"there was more than is shown"`
	Records       []uptime.Record      `json:"records,omitempty" doc:"of a dns check"`
	Rcode         string               `json:"rcode,omitempty"`
	Hops          []uptime.Hop         `json:"hops,omitempty" doc:"requests or connections, in order"`
	TLSVersion    string               `json:"tls_version,omitempty"`
	TLSCipher     string               `json:"tls_cipher,omitempty"`
	Certificates  []uptime.Certificate `json:"certificates,omitempty" doc:"as sent, the server's own first"`
	Failed        []uptime.Failed      `json:"failed,omitempty" doc:"assertions that did not pass"`
	Command       string               `json:"command,omitempty" doc:"a line for a shell that does much the same"`
}

type headerLine struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// NewCheck shows a job, with the evidence that it holds.
func NewCheck(j jobstore.Job) Check {
	c := Check{
		ID: j.ID, URL: j.URL, Kind: string(j.Kind), TimeoutMS: j.Timeout.Milliseconds(), Regions: orEmpty(j.Regions), State: string(j.State),
		RetryCount: j.RetryCount, CreatedAt: instant(j.CreatedAt), UpdatedAt: instant(j.UpdatedAt), LastAttemptAt: maybeInstant(j.LastAttemptAt),
		NextAttemptAt: maybeInstant(j.NextAttemptAt), Error: j.Error, Results: make([]CheckResult, len(j.Looks)),
	}
	if j.TargetID != 0 {
		c.TargetID = some(j.TargetID)
	}
	for i, look := range j.Looks {
		c.Results[i] = checkResult(look)
	}
	return c
}

func checkResult(l uptime.Look) CheckResult {
	r := CheckResult{
		Region: l.Region, Prober: l.Prober, Attempt: l.Attempt, CheckedAt: maybeInstant(l.CheckedAt), Status: l.Status.String(), Failure: string(l.Failure),
		Reason: string(l.Reason), Message: l.Message, HTTPStatus: l.HTTPStatus, DNSUS: l.Phases.DNS, ConnectUS: l.Phases.Connect, TLSUS: l.Phases.TLS,
		WaitUS: l.Phases.Wait, TransferUS: l.Phases.Transfer, TotalUS: l.TotalUS, Protocol: l.Seen.Protocol, WireBytes: l.Seen.WireBytes,
		BodyBytes: l.Seen.BodyBytes, DNSCached: l.Seen.DNSCached, Saturated: l.Seen.Saturated, CertNotAfter: maybeInstant(l.CertNotAfter),
	}
	if l.Address.IsValid() {
		r.Address = l.Address.String()
	}
	e := l.Evidence
	if e == nil {
		return r
	}
	r.StatusLine, r.Cookies, r.PageSource, r.PageSourceCut, r.Received, r.ReceivedCut = e.StatusLine, e.Cookies, e.Body, e.BodyCut, e.Received, e.ReceivedCut
	r.Records, r.Rcode = e.Records, e.Rcode
	r.Hops, r.TLSVersion, r.TLSCipher, r.Certificates, r.Failed, r.Command = e.Hops, e.TLSVersion, e.TLSCipher, e.Certificates, e.Failed, e.Command
	for _, line := range e.Headers {
		r.Headers = append(r.Headers, headerLine{line.Name, line.Value})
	}
	return r
}

// checkRetryAfter is how soon there may be room again.
const checkRetryAfter = 10 * time.Second
