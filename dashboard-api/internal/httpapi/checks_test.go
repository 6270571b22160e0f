package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/jobs"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// ask asks for a check as an editor.
func (b *bench) ask(body string, options ...option) (reply, Check) {
	b.Helper()
	got := b.do("POST", "/api/v1/checks", body, append([]option{as(editorKey)}, options...)...)
	var c struct {
		ID, URL, Kind, State string
		Regions              []string
	}
	if got.Code == http.StatusAccepted {
		got.into(b, &c)
	}
	return got, Check{ID: c.ID, URL: c.URL, Kind: c.Kind, State: c.State, Regions: c.Regions}
}

func (b *bench) audited() (rows []string) {
	b.Helper()
	if err := b.db.Read().Raw("SELECT actor || ' ' || action || ' ' || object || ' ' || detail FROM audit_log ORDER BY id").Scan(&rows).Error; err != nil {
		b.Fatal(err)
	}
	return rows
}

func TestCheckIsAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got, c := b.ask(`{"url":"https://Example.com/a?key=hunter2"}`)
	if got.Code != http.StatusAccepted || got.Header().Get("Location") != "/api/v1/checks/"+c.ID || c.State != "QUEUED" || !slices.Equal(c.Regions, []string{"eu", "us"}) {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	for _, part := range []string{`"retry_count":0`, `"last_attempt_at":null`, `"next_attempt_at":null`, `"target_id":null`, `"results":[]`, `"error":""`, `"timeout_ms":10000`, `"kind":"http"`} {
		if !strings.Contains(got.text, part) {
			t.Errorf("no %s in %s", part, got.text)
		}
	}
	if rows := b.audited(); len(rows) != 1 || !strings.Contains(rows[0], "check.created check:"+c.ID) || !strings.Contains(rows[0], "?key=… from eu, us") || strings.Contains(rows[0], "hunter2") {
		t.Errorf("audited %q", rows)
	}
	if read := b.do("GET", "/api/v1/checks/"+c.ID, "", as(viewerKey)); read.Code != http.StatusOK || read.text != got.text {
		t.Errorf("%d %s", read.Code, read.text)
	}
	got, c = b.ask(`{"url":"https://example.com/","timeout_ms":500,"regions":["us"],"expect":{"status":["503"]}}`)
	job, err := b.checks.Get(t.Context(), c.ID)
	if err != nil || job.Timeout != 500*time.Millisecond || job.Spec != `{"expect":{"status":["503"]}}` || !slices.Equal(job.Regions, []string{"us"}) || job.CreatedBy[:4] != "key:" {
		t.Errorf("%s became %+v, %v", got.text, job, err)
	}
	if len(b.stored()) != 0 {
		t.Error("a target was saved")
	}
}

// noAnswers are kept answers while the database is away.
type noAnswers struct{}

func (noAnswers) Answer(context.Context, string, string) (accountstore.Answer, error) {
	return accountstore.Answer{}, errors.New("the database is away")
}

func (noAnswers) SaveAnswer(context.Context, string, string, string, int, string) error {
	return errors.New("the database is away")
}

// TestChecksNeedNoKeptAnswers: a check is accepted without asking any store, so an
// Idempotency-Key asks for what cannot be given, and the answer says so. What is saved is not.
func TestChecksNeedNoKeptAnswers(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, testbackend.SQLite(t), func(_ *bench, o *Options) { o.Answers = noAnswers{} })
	key := header("Idempotency-Key", "k")
	for range 2 {
		got, c := b.ask(`{"url":"https://a.example/"}`, key)
		if got.Code != http.StatusAccepted || c.State != "QUEUED" || got.Header().Get("Idempotency-Unavailable") != "true" || got.Header().Get("Idempotency-Replayed") != "" {
			t.Errorf("%d %s %v", got.Code, got.text, got.Header())
		}
	}
	if got, _ := b.ask(`{"url":"https://a.example/"}`); got.Code != http.StatusAccepted || got.Header().Get("Idempotency-Unavailable") != "" {
		t.Errorf("without a key: %d %v", got.Code, got.Header())
	}
	if got, _ := b.ask(`{"url":"ftp://a.example/"}`, key); got.Code != 422 {
		t.Errorf("what is wrong is refused: %d %s", got.Code, got.text)
	}
	if got := b.do("POST", "/api/v1/targets", `{"url":"https://a.example/"}`, as(editorKey), key); got.Code != 500 && got.Code != 503 || len(b.stored()) != 0 {
		t.Errorf("a target: %d %s", got.Code, got.text)
	}
	if log := b.log.String(); !strings.Contains(log, "kept answers cannot be read") {
		t.Errorf("nobody is told: %s", log)
	}
}

// TestChecksAreJudgedAsTargets: the same documents, the same mistakes.
func TestChecksAreJudgedAsTargets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for body, want := range map[string]struct {
		status int
		code   string
	}{
		`{}`:                          {422, "required"},
		`{"url":"ftp://a.example/"}`:  {422, "url_scheme"},
		`{"url":"http://127.0.0.1/"}`: {422, "private_address"},
		`{"url":"http://169.254.169.254/latest/meta-data"}`:      {422, "private_address"},
		`{"url":"http://u:p@a.example/"}`:                        {422, "url_credentials"},
		`{"url":"https://a.example/","regions":["mars"]}`:        {422, "unknown_region"},
		`{"url":"https://a.example/","expect":{"status":["1"]}}`: {422, "invalid_status_range"},
		`{"url":"https://a.example/","name":"x"}`:                {400, "unknown_field"},
		`{"url":"https://a.example/","name":null}`:               {400, "unknown_field"},
		`{"url":"https://a.example/","interval_s":60}`:           {400, "unknown_field"},
		`{"url":"https://a.example/","active":true}`:             {400, "unknown_field"},
		`{"url":"https://a.example/","state":"COMPLETED"}`:       {400, "unknown_field"},
		`{"url":"https://a.example/","timeout_ms":"5"}`:          {422, "invalid_type"},
		`[]`: {400, "malformed_json"},
	} {
		got, _ := b.ask(body)
		if p := got.problem(t); got.Code != want.status || p.Code != want.code {
			t.Errorf("%s: %d %s", body, got.Code, got.text)
		}
	}
	b.fleet.open = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	if got, _ := b.ask(`{"url":"http://127.0.0.1/"}`); got.Code != http.StatusAccepted {
		t.Errorf("a range that a prober opens: %d %s", got.Code, got.text)
	}
}

// TestCheckOfASavedTarget: it begins with the target as it is, secrets included, and what is
// given is laid over it as an edit would be. Nothing of that is saved.
func TestCheckOfASavedTarget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/a","interval_s":10,"regions":["us"],"assertions":[{"source":"body","op":"contains","value":"ok"}],"http":{"username":"ann","password":"p1"}}`)
	before := b.stored()[0]
	for body, want := range map[string]struct{ url, regions, password, assertions string }{
		`{"target_id":1}`: {"https://example.com/a", "[us]", "p1", "1"},
		`{"target_id":1,"url":"https://example.com/b","assertions":[],"regions":["eu"]}`:    {"https://example.com/b", "[eu]", "p1", "0"},
		`{"target_id":1,"http":{"username":"bob","password":"[secret]"}}`:                   {"https://example.com/a", "[us]", "p1", "1"},
		`{"target_id":1,"http":{"username":"bob","password":"p2"},"url":"https://b.test/"}`: {"https://b.test/", "[us]", "p2", "1"},
		`{"target_id":1,"http":null,"url":"https://elsewhere.test/","regions":[]}`:          {"https://elsewhere.test/", "[eu us]", "", "1"},
		`{"target_id":1,"http":null,"assertions":null,"expect":{"status":["503"]}}`:         {"https://example.com/a", "[us]", "", "0"},
	} {
		got, c := b.ask(body)
		if got.Code != http.StatusAccepted || !strings.Contains(got.text, `"target_id":null`) || !strings.Contains(got.text, `"timeout_ms":5000`) {
			t.Errorf("%s: %d %s", body, got.Code, got.text)
			continue
		}
		job, err := b.checks.Get(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := job.Spec.Spec()
		if err != nil {
			t.Fatal(err)
		}
		password := ""
		if spec.HTTP != nil && spec.HTTP.Password != "" {
			password = b.opened(spec.HTTP.Password)
		}
		if job.URL != want.url || fmt.Sprint(job.Regions) != want.regions || password != want.password || fmt.Sprint(len(spec.Assertions)) != want.assertions {
			t.Errorf("%s: %s from %v with %q and %d assertions", body, job.URL, job.Regions, password, len(spec.Assertions))
		}
		if leaked := "p1"; strings.Contains(got.text, leaked) {
			t.Errorf("%s: the answer says the secret: %s", body, got.text)
		}
	}
	if after := b.stored()[0]; after.SpecVersion != before.SpecVersion || after.URL != before.URL {
		t.Errorf("the target was changed: %+v", after)
	}
	if rows := b.audited(); !strings.HasSuffix(rows[len(rows)-1], " as target:1") {
		t.Errorf("audited %q", rows[len(rows)-1])
	}
}

// TestSecretsOfASavedTargetGoNowhereElse: a check may send them only where an edit could.
func TestSecretsOfASavedTargetGoNowhereElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/","http":{"username":"ann","password":"p1"}}`)
	b.create(`{"url":"heartbeat://job","heartbeat":{"period_s":60,"grace_s":10}}`)
	for body, want := range map[string]struct{ pointer, code string }{
		`{"target_id":1,"url":"https://other.test/"}`:                                                 {"/url", codeSecretOrigin},
		`{"target_id":1,"url":"http://example.com/"}`:                                                 {"/url", codeSecretOrigin},
		`{"target_id":1,"url":"https://example.com:8443/"}`:                                           {"/url", codeSecretOrigin},
		`{"target_id":1,"url":"https://other.test/","http":{"username":"ann","password":"[secret]"}}`: {"/url", codeSecretOrigin},
		`{"target_id":1,"http":{"token":"[secret]"}}`:                                                 {"/http/token", codeNoSecret},
		`{"url":"https://example.com/","http":{"username":"ann","password":"[secret]"}}`:              {"/http/password", codeNoSecret},
		`{"target_id":1,"assertions":[{"source":"body","op":"matches","value":"("}]}`:                 {"/assertions/0/value", "invalid_pattern"},
		`{"target_id":2}`:                 {"/url", "not_of_kind"},
		`{"target_id":99}`:                {"/target_id", codeNotFound},
		`{"target_id":0}`:                 {"/target_id", codeNotFound},
		`{"target_id":"1"}`:               {"/target_id", codeInvalidType},
		`{"target_id":null}`:              {"/target_id", codeInvalidType},
		`{"target_id":1,"name":"x"}`:      {"/name", codeUnknownField},
		`{"target_id":1,"interval_s":60}`: {"/interval_s", codeUnknownField},
	} {
		got, _ := b.ask(body)
		p := got.problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != want.pointer || p.Errors[0].Code != want.code {
			t.Errorf("%s: %d %s", body, got.Code, got.text)
		}
	}
	if got := b.do("POST", "/api/v1/checks", `{"target_id":1}`, as(viewerKey)); got.Code != http.StatusForbidden {
		t.Errorf("who may not edit it: %d %s", got.Code, got.text)
	}
}

func TestChecksOfAnAccountAreLimited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n := range perMinute {
		got, _ := b.ask(`{"url":"https://a.example/"}`)
		if got.Code != http.StatusAccepted {
			t.Fatalf("%d %s", got.Code, got.text)
		}
		if n == 0 && (got.Header().Get("RateLimit-Policy") != fmt.Sprintf(`"checks";q=%d;w=60`, perMinute) || got.Header().Get("RateLimit") != fmt.Sprintf(`"checks";r=%d;t=2`, perMinute-1)) {
			t.Errorf("%v", got.Header())
		}
	}
	got, _ := b.ask(`{"url":"https://a.example/"}`)
	if p := got.problem(t); got.Code != http.StatusTooManyRequests || p.Code != "too_many_checks" || got.Header().Get("Retry-After") == "" || !strings.HasPrefix(got.Header().Get("RateLimit"), `"checks";r=0;t=`) {
		t.Errorf("%d %v %s", got.Code, got.Header(), got.text)
	}
	if got := b.do("POST", "/api/v1/checks", `{"url":"https://a.example/"}`, as(ownerKey)); got.Code != http.StatusAccepted {
		t.Errorf("another account: %d %s", got.Code, got.text)
	}
}

// Saving is not limited, its previews are: by themselves, so that who saved many may still ask.
func TestPreviewsOfAnAccountAreLimited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n := range perMinute + 1 {
		got := b.do("POST", "/api/v1/targets", fmt.Sprintf(`{"url":"https://h%d.example/"}`, n), as(editorKey))
		if previewed := strings.Contains(got.text, "preview_check_id"); got.Code != http.StatusCreated || previewed != (n < perMinute) {
			t.Fatalf("target %d: %d %s", n, got.Code, got.text)
		}
	}
	if got, _ := b.ask(`{"url":"https://a.example/"}`); got.Code != http.StatusAccepted {
		t.Errorf("%d %s", got.Code, got.text)
	}
}

func TestFullQueueIsSaid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range jobs.Capacity {
		if _, err := b.checks.Accept(jobs.Request{URL: "https://a.example/"}); err != nil {
			t.Fatal(err)
		}
	}
	got, _ := b.ask(`{"url":"https://a.example/"}`)
	if p := got.problem(t); got.Code != http.StatusServiceUnavailable || p.Code != "checks_full" || got.Header().Get("Retry-After") != "10" {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if target := b.create(`{"url":"https://a.example/"}`); target.ID == 0 {
		t.Error("a target cannot be saved")
	}
}

// TestCheckIsAcceptedWithoutItsTable, and history says that it cannot be asked.
func TestCheckIsAcceptedWithoutItsTable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.db.Write().Exec("ALTER TABLE jobs RENAME TO away").Error; err != nil {
		t.Fatal(err)
	}
	got, c := b.ask(`{"url":"https://a.example/"}`)
	if got.Code != http.StatusAccepted {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	if read := b.do("GET", "/api/v1/checks/"+c.ID, "", as(viewerKey)); read.Code != http.StatusOK {
		t.Errorf("%d %s", read.Code, read.text)
	}
	if read := b.do("GET", "/api/v1/checks", "", as(viewerKey)); read.Code < 500 {
		t.Errorf("half a list: %d %s", read.Code, read.text)
	}
	if target := b.create(`{"url":"https://a.example/"}`); target.ID == 0 {
		t.Error("a target cannot be saved")
	}
}

func TestSavingFiresAPreview(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	preview := func(r reply) string {
		t.Helper()
		var body struct {
			ID      int64  `json:"id"`
			Preview string `json:"preview_check_id"`
		}
		r.into(t, &body)
		if body.Preview == "" {
			return ""
		}
		job, err := b.checks.Get(t.Context(), body.Preview)
		if err != nil || job.TargetID != body.ID {
			t.Errorf("preview %+v: %v", job, err)
		}
		return job.URL + " " + string(job.Spec)
	}
	created := b.do("POST", "/api/v1/targets", `{"url":"https://a.example/","regions":["us"]}`, as(editorKey), header("Idempotency-Key", "k"))
	if got := preview(created); got != "https://a.example/ " {
		t.Errorf("created with preview %q", got)
	}
	again := b.do("POST", "/api/v1/targets", `{"url":"https://a.example/","regions":["us"]}`, as(editorKey), header("Idempotency-Key", "k"))
	if again.text != created.text {
		t.Errorf("repeated: %s", again.text)
	}
	var target targetJSON
	created.into(t, &target)
	path := fmt.Sprintf("/api/v1/targets/%d", target.ID)
	for body, want := range map[string]string{`{"name":"b"}`: "", `{"interval_s":30}`: "", `{"active":false}`: "", `{"url":"https://b.example/"}`: "https://b.example/ "} {
		if got := preview(b.do("PATCH", path, body, as(editorKey))); got != want {
			t.Errorf("%s: preview %q", body, got)
		}
	}
	if read := b.do("GET", path, "", as(viewerKey)); strings.Contains(read.text, "preview") {
		t.Errorf("%s", read.text)
	}
}

// Of a file that is imported the first few are previewed, as if each had been saved alone.
func TestImportsFireAFewPreviews(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var file strings.Builder
	file.WriteString("url;interval_s\n")
	for i := range maxPreviews + 5 {
		fmt.Fprintf(&file, "https://h%d.example/;60\n", i)
	}
	previews := func(csv string, dry bool) (urls []string) {
		t.Helper()
		text, _ := json.Marshal(csv)
		got := b.do("POST", importPath, fmt.Sprintf(`{"dry_run":%t,"csv":%s}`, dry, text), as(editorKey))
		_, _ = imported(t, got)
		for row := range strings.Lines(got.text) {
			var line struct {
				ID      int64  `json:"id"`
				Preview string `json:"preview_check_id"`
			}
			if err := json.Unmarshal([]byte(row), &line); err != nil {
				t.Fatal(err)
			}
			if line.Preview == "" {
				continue
			}
			job, err := b.checks.Get(t.Context(), line.Preview)
			if err != nil || job.TargetID != line.ID {
				t.Errorf("preview %+v of %d: %v", job, line.ID, err)
			}
			urls = append(urls, job.URL)
		}
		return urls
	}
	if got := previews(file.String(), true); len(got) > 0 {
		t.Errorf("a dry run: %v", got)
	}
	if got := previews(file.String(), false); len(got) != maxPreviews || got[0] != "https://h0.example/" {
		t.Errorf("%v", got)
	}
	if got := previews(strings.ReplaceAll(file.String(), ";60", ";30"), false); len(got) > 0 {
		t.Errorf("visited as before, and previewed: %v", got)
	}
	if got := previews("url;timeout_ms\nhttps://h1.example/;5000\nhttps://h2.example/;10000\n", false); !slices.Equal(got, []string{"https://h1.example/"}) {
		t.Errorf("visited otherwise: %v", got)
	}
}

func TestBatchesFireAFewPreviews(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"heartbeat://job","heartbeat":{"period_s":60,"grace_s":60}}`)
	ids := []string{"1"}
	for i := range maxPreviews + 5 {
		got := b.do("POST", "/api/v1/targets", fmt.Sprintf(`{"url":"https://h%d.example/"}`, i), as(ownerKey))
		var target struct {
			ID int64 `json:"id"`
		}
		got.into(t, &target)
		ids = append(ids, strconv.FormatInt(target.ID, 10))
	}
	previews := func(rest string) (of []int64) {
		t.Helper()
		for _, changed := range b.batch(fmt.Sprintf(`{"ids":[%s],%s}`, strings.Join(ids, ","), rest)).Changed {
			if changed.PreviewCheckID == "" {
				continue
			}
			job, err := b.checks.Get(t.Context(), changed.PreviewCheckID)
			if err != nil || job.TargetID != changed.ID || job.Timeout != 5*time.Second {
				t.Errorf("preview %+v of %d: %v", job, changed.ID, err)
			}
			of = append(of, changed.ID)
		}
		return of
	}
	if got := previews(`"set":{"timeout_ms":5000},"dry_run":true`); len(got) > 0 {
		t.Errorf("a dry run: %v", got)
	}
	if got := previews(`"set":{"timeout_ms":5000}`); len(got) != maxPreviews || got[0] != 2 {
		t.Errorf("%v", got)
	}
	if got := previews(`"set":{"interval_s":30,"add_tags":["x"]}`); len(got) > 0 {
		t.Errorf("visited as before, and previewed: %v", got)
	}
}

func TestChecksAreListed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := jobstore.New(b.db)
	var ids []string
	for n := range 5 {
		at := testNow.Add(time.Duration(n) * time.Minute)
		j := jobstore.Job{ID: fmt.Sprintf("j%d", n), URL: "https://a.example/", Kind: uptime.KindHTTP, Timeout: time.Second, Regions: []string{"eu"}, State: jobstore.Completed, CreatedAt: at, UpdatedAt: at, LastAttemptAt: at}
		if n == 2 {
			j.URL, j.State = "https://b.example/", jobstore.FailedPermanent
		}
		j.Looks = []uptime.Look{{Region: "eu", Status: uptime.StatusUp, TotalUS: 5, Evidence: &uptime.Evidence{
			Body: "<html>", BodyCut: true, Received: "220", ReceivedCut: true, Cookies: []string{"sid"}, Headers: []uptime.Header{{Name: "Server", Value: "x"}}, StatusLine: "HTTP/1.1 200 OK",
			Hops: []uptime.Hop{{URL: "https://a.example/", Address: netip.MustParseAddr("192.0.2.1")}}, Certificates: []uptime.Certificate{{Subject: "CN=a"}},
		}}}
		if _, err := store.Save(t.Context(), "test", testNow, []jobstore.Job{j}); err != nil {
			t.Fatal(err)
		}
		ids = append([]string{j.ID}, ids...)
	}
	list := func(query string) (got []string) {
		t.Helper()
		for cursor := ""; ; {
			answer := b.do("GET", "/api/v1/checks?limit=2&"+query+"&cursor="+cursor, "", as(viewerKey))
			if answer.Code != http.StatusOK || strings.Contains(answer.text, "page_source") || strings.Contains(answer.text, "headers") {
				t.Fatalf("%s: %d %s", query, answer.Code, answer.text)
			}
			var page struct {
				Items []struct{ ID string }
				Next  string `json:"next_cursor"`
			}
			answer.into(t, &page)
			for _, item := range page.Items {
				got = append(got, item.ID)
			}
			if cursor = page.Next; cursor == "" {
				return got
			}
		}
	}
	for query, want := range map[string][]string{
		"": ids, "url=https://a.example/": {"j4", "j3", "j1", "j0"}, "url=HTTPS://A.example/": {}, "state=FAILED_PERMANENT": {"j2"},
		"from=2026-03-01T12:01:00Z&to=2026-03-01T12:03:00Z": {"j2", "j1"}, "url=nothing": {},
	} {
		if got := list(query); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%q lists %v, want %v", query, got, want)
		}
	}
	answer := b.do("GET", "/api/v1/checks/j1", "", as(viewerKey))
	for _, part := range []string{`"page_source":"<html>"`, `"page_source_cut":true`, `"received":"220","received_cut":true`, `"cookies":["sid"]`, `"headers":[{"name":"Server","value":"x"}]`, `"address":"192.0.2.1"`, `"subject":"CN=a"`, `"status_line":"HTTP/1.1 200 OK"`} {
		if !strings.Contains(strings.ReplaceAll(answer.text, `\u003c`, "<"), strings.ReplaceAll(part, `\u003c`, "<")) && !strings.Contains(answer.text, strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(part)) {
			t.Errorf("no %s in %s", part, answer.text)
		}
	}
	for _, query := range []string{"state=DONE", "from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z", "cursor=zzz", "cursor=" + idCursorText(4)} {
		if got := b.do("GET", "/api/v1/checks?"+query, "", as(viewerKey)); got.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", query, got.Code, got.text)
		}
	}
	if got := b.do("GET", "/api/v1/checks/none", "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("%d %s", got.Code, got.text)
	}
}

func idCursorText(id int64) string { return *idCursor(id).value }

func TestCheckIsDescribedAsATargetWithoutAName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	b.do("GET", "/api/openapi.json", "").into(t, &document)
	target, check := document.Components.Schemas["TargetInput"].Properties, document.Components.Schemas["CheckInput"].Properties
	if target["name"] == nil || check["url"] == nil || check["target_id"] == nil || len(check) != len(target)-len(onlyOfSaved)+1 {
		t.Errorf("%d of a target, %d of a check", len(target), len(check))
	}
}
