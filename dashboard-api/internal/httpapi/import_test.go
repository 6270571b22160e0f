package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/semaphore"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
)

type importLineJSON struct {
	Line    int
	URL     string
	Name    string
	Outcome string
	ID      int64
	Changes []struct {
		Pointer  string
		From, To any
	}
	Problem *struct {
		Code   string
		Errors []struct{ Pointer, Code string }
	}
}

type importEndJSON struct {
	DryRun                               bool `json:"dry_run"`
	Created, Changed, Unchanged, Refused int
	Stopped                              *Problem
}

// imported are the lines of an answer, in order, each in words, and its counts.
func imported(t *testing.T, got reply) (said []string, end importEndJSON) {
	t.Helper()
	if got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	rows := strings.Split(strings.TrimSpace(got.text), "\n")
	var last struct{ Complete *importEndJSON }
	if err := json.Unmarshal([]byte(rows[len(rows)-1]), &last); err != nil || last.Complete == nil {
		t.Fatalf("the answer does not say that it is whole: %s", got.text)
	}
	var lines []importLineJSON
	for _, row := range rows[:len(rows)-1] {
		var l importLineJSON
		if err := json.Unmarshal([]byte(row), &l); err != nil {
			t.Fatal(err, row)
		}
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(a, b importLineJSON) int { return a.Line - b.Line })
	for _, l := range lines {
		words := fmt.Sprintf("%d %s %s", l.Line, l.Outcome, l.Name)
		for _, c := range l.Changes {
			words += fmt.Sprintf(" %s:%v→%v", c.Pointer, c.From, c.To)
		}
		if l.Problem != nil {
			for _, e := range l.Problem.Errors {
				words += " " + e.Pointer + "=" + e.Code
			}
		}
		said = append(said, words)
	}
	return said, *last.Complete
}

func (b *bench) importing(body string, dry bool) ([]string, importEndJSON) {
	b.Helper()
	body = strings.Replace(body, "{", fmt.Sprintf(`{"dry_run":%t,`, dry), 1)
	return imported(b.T, b.do("POST", importPath, body, as(editorKey)))
}

func TestAnImportWaitsForTheOneBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		takes time.Duration
		want  int
	}{{importWaits - time.Second, 0}, {importWaits + time.Second, http.StatusServiceUnavailable}} {
		synctest.Test(t, func(t *testing.T) {
			one := semaphore.NewWeighted(1)
			one.TryAcquire(1)
			time.AfterFunc(c.takes, func() { one.Release(1) })
			got := 0
			if p := importTurn(t.Context(), one); p != nil {
				got = p.Status
			}
			if got != c.want {
				t.Errorf("the one before takes %s: %d, want %d", c.takes, got, c.want)
			}
		})
	}
}

func asCSV(lines ...string) string {
	text, _ := json.Marshal(strings.Join(lines, "\n"))
	return `{"csv":` + string(text) + `}`
}

func (b *bench) auditedImports() (entries []string) {
	b.Helper()
	err := b.db.Read().Raw("SELECT action || ' ' || object || ' ' || detail FROM audit_log WHERE operation = 'importTargets' ORDER BY id").Scan(&entries).Error
	if err != nil {
		b.Fatal(err)
	}
	return entries
}

// everyKind are targets with all that can be set.
func everyKind(b *bench) {
	b.create(`{"url":"https://one.example/","name":"One","interval_s":30,"timeout_ms":5000,"regions":["us","eu"],"tags":["prod","team:db"],"active":false,"family":"4",
		"expect":{"status":["200-299","301"]},"policy":{"down_after":3},"assertions":[{"source":"body","op":"contains","value":"ok, \"fine\"","severity":"degrade"}],
		"http":{"method":"POST","body":"x","headers":[{"name":"X-A","value":"1"},{"name":"X-Key","secret":"s3cret"}],"username":"u","password":"hunter2","redirects":0}}`)
	b.create(`{"url":"https://one.example/","name":"=Twin, of \"One\"","parent_id":1}`)
	b.create(`{"url":"tcp://one.example:25","tcp":{"send":"EHLO","starttls":"smtp"},"tls":{"server_name":"mx.example","skip_verify":true}}`)
	b.create(`{"url":"dns://9.9.9.9/one.example?type=A","dns":{"transport":"tcp"}}`)
	b.create(`{"url":"heartbeat://job","heartbeat":{"cron":"30 2 * * *","zone":"Europe/Berlin","grace_s":60}}`)
	b.create(`{"url":"wss://one.example/x","websocket":{"send":"hi","subprotocols":["a"]}}`)
}

func TestAnExportIsImportedWithoutAChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	everyKind(b)
	before := b.stored()
	got := b.do("GET", transferPath, "", as(viewerKey))
	if got.Code != http.StatusOK || strings.Contains(got.text, "hunter2") || strings.Contains(got.text, "s3cret") || strings.Count(got.text, `"[secret]"`) != 2 {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	var file struct {
		Format, Secrets string
		ExportedAt      string `json:"exported_at"`
		Targets         []map[string]any
		Count           int
	}
	got.into(t, &file)
	if file.Format != transferFormat || file.Count != 6 || len(file.Targets) != 6 || file.ExportedAt == "" || file.Secrets == "" || file.Targets[1]["parent"] != "One" {
		t.Errorf("the file is %s", got.text)
	}
	table := b.do("GET", transferPath+"?format=csv", "", as(viewerKey))
	if !strings.Contains(table.text, `https://one.example/,One,http,30,5000,eu us,prod team:db,false,4,`) || !strings.HasSuffix(table.text, "# complete rows=6\n") {
		t.Errorf("the table is %s", table.text)
	}
	for name, body := range map[string]string{"json": got.text, "csv": asCSV(strings.Split(table.text, "\n")...)} {
		for _, dry := range []bool{true, false} {
			said, end := b.importing(body, dry)
			if end.Unchanged != 6 || end.DryRun != dry || len(said) != 6 {
				t.Errorf("%s, dry %v: %+v\n%s", name, dry, end, strings.Join(said, "\n"))
			}
		}
	}
	if diff := cmp.Diff(before, b.stored()); diff != "" {
		t.Error(diff)
	}
}

// Elsewhere all of it is made again, but for what needs a secret.
func TestAnExportIsImportedElsewhere(t *testing.T) {
	t.Parallel()
	here, there := newBench(t), newBench(t)
	everyKind(here)
	file := here.do("GET", transferPath, "", as(viewerKey)).text
	said, end := there.importing(file, true)
	if end.Created != 4 || end.Refused != 2 || said[0] != "1 refused One /http/headers/1/secret=no_stored_secret /http/password=no_stored_secret" || said[1] != `2 refused =Twin, of "One" /parent=not_found` {
		t.Errorf("%+v\n%s", end, strings.Join(said, "\n"))
	}
	file = strings.NewReplacer(`"password":"[secret]"`, `"password":"a"`, `"secret":"[secret]"`, `"secret":"b"`).Replace(file)
	if said, end = there.importing(file, false); end.Created != 6 {
		t.Fatalf("%+v\n%s", end, strings.Join(said, "\n"))
	}
	again := there.do("GET", transferPath, "", as(viewerKey)).text
	cut := func(file string) string { return file[strings.Index(file, `"targets"`):] }
	if diff := cmp.Diff(cut(here.do("GET", transferPath, "", as(viewerKey)).text), cut(again)); diff != "" {
		t.Error(diff)
	}
	if tokens := there.do("GET", "/api/v1/targets/5/heartbeat", "", as(editorKey)); tokens.Code != http.StatusOK {
		t.Errorf("the heartbeat has no path: %s", tokens.text)
	}
}

func TestADryRunSaysWhatTheImportDoes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://a.example/","name":"A","interval_s":30,"tags":["old"]}`)
	b.create(`{"url":"https://b.example/","name":"B"}`)
	b.create(`{"url":"https://c.example/","name":"C1"}`)
	b.create(`{"url":"https://c.example/","name":"C2"}`)
	file := asCSV("url;name;interval_s;tags;regions;parent",
		"https://a.example;A renamed;60;new prod;eu;Router",
		"https://b.example/;B;;;;",
		"https://new.example/;;10;;us;A renamed",
		"tcp://router.example:80;Router;;;;",
		"https://c.example/;;30;;;",
		"https://c.example/;C2;5;;mars;",
		"https://c.example/;C3;;;;",
		"https://b.example/;B;;;;",
		"https://bad.example/;A renamed;;;;",
		"file:///etc/passwd;;;;;",
		"https://b.example/x;;;;;",
		"https://b.example/x/;BX;;;;",
		"https://user:pw@x.example/;;;;;",
		"https://d.example/;D;soon;;;nobody",
	)
	want := []string{
		"2 changed A renamed /interval_s:30→60 /name:A→A renamed /parent:<nil>→Router /regions:[]→[eu] /tags:[old]→[new prod]",
		"3 unchanged B",
		"4 created new.example",
		"5 created Router",
		"6 refused c.example /name=required",
		"7 refused C2 /interval_s=interval_out_of_range /regions/0=unknown_region",
		"8 created C3",
		"9 refused B /url=duplicate_line",
		"10 refused A renamed /name=duplicate_name",
		"11 refused  /url=url_scheme",
		"12 created b.example/x",
		"13 created BX",
		"14 refused  /url=url_credentials",
		"15 refused D /interval_s=invalid_type /parent=not_found",
	}
	before := b.stored()
	said, end := b.importing(file, true)
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if end != (importEndJSON{DryRun: true, Created: 5, Changed: 1, Unchanged: 1, Refused: 7}) {
		t.Errorf("%+v", end)
	}
	if diff := cmp.Diff(before, b.stored()); diff != "" {
		t.Errorf("the dry run wrote: %s", diff)
	}
	if entries := b.auditedImports(); len(entries) > 0 {
		t.Errorf("the dry run is in the audit log: %v", entries)
	}
	said, _ = b.importing(file, false)
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("the import does something else: %s", diff)
	}
	entries := b.auditedImports()
	if diff := cmp.Diff([]string{
		"importTargets targets:import ", "target.created target:5 Router", "target.created target:6 C3", "target.created target:7 b.example/x", "target.created target:8 BX", "target.updated target:1 A renamed", "target.created target:9 new.example",
	}, entries); diff != "" {
		t.Errorf("audit log: %s", diff)
	}
	said, end = b.importing(file, false)
	if end.Created+end.Changed > 0 || end.Unchanged != 7 || end.Refused != 7 {
		t.Errorf("once more: %+v\n%s", end, strings.Join(said, "\n"))
	}
}

// What is asked of a host counts for the lines after it, in a dry run, too.
func TestAnImportKeepsToTheLimitOfAHost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lines := []string{"url,interval_s"}
	for i := range 55 { // each every ten seconds; five a second is the limit
		lines = append(lines, fmt.Sprintf("https://busy.example/%d,10", i))
	}
	for _, dry := range []bool{true, false} {
		said, end := b.importing(asCSV(lines...), dry)
		if end.Created != 50 || end.Refused != 5 || said[54] != "56 refused busy.example/54 /url=host_rate_exceeded" {
			t.Errorf("dry %v: %+v %v", dry, end, said)
		}
	}
}

func TestImportsThatCannotBe(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for body, want := range map[string]string{
		`{}`:                               "/targets required",
		`{"targets":[]}`:                   "/targets required",
		`{"targets":{}}`:                   "/targets invalid_type",
		`{"targets":[{}],"csv":"url\nx"}`:  "/csv invalid_parameter",
		`{"format":"kuma","targets":[{}]}`: "/format invalid_parameter",
		`{"csv":""}`:                       "/csv required",
		`{"csv":"url,colour\nhttps://a.example/,"}`:                 "/csv unknown_field",
		`{"csv":"name\nx"}`:                                         "/csv required",
		`{"csv":"url,url\nx,y"}`:                                    "/csv invalid_parameter",
		`{"csv":"url\n\"x"}`:                                        "/csv invalid_text",
		`{"targets":[` + strings.Repeat("{},", maxImport) + `{}]}`:  "/targets too_long",
		`{"csv":"url\n` + strings.Repeat(`x\n`, maxImport+1) + `"}`: "/csv too_long",
		`{"targets":[{}],"overwrite":true}`:                         "/overwrite unknown_field",
	} {
		got := b.do("POST", importPath, body, as(editorKey))
		if p := got.problem(t); got.Code < 400 || len(p.Errors) == 0 || p.Errors[0].Pointer+" "+p.Errors[0].Code != want {
			t.Errorf("%.80s: %d %.200s, want %s", body, got.Code, got.text, want)
		}
	}
	if got := b.do("POST", importPath, `{"csv":"`+strings.Repeat("x", maxImportBody)+`"}`, as(editorKey)); got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a file of more than 8 MiB: %d", got.Code)
	}
	said, _ := b.importing(`{"targets":[{"url":"https://a.example/","colour":"red"},7,{"url":"https://b.example/","parent":3,"interval_s":"x"},{}]}`, false)
	if diff := cmp.Diff([]string{
		"1 refused a.example /colour=unknown_field", "2 refused  =malformed_json", "3 refused b.example /interval_s=invalid_type /parent=invalid_type", "4 refused  /url=required",
	}, said); diff != "" {
		t.Error(diff)
	}
	if n := len(b.stored()); n != 0 {
		t.Errorf("%d targets were stored", n)
	}
}

// An import that the database breaks off says so, and what it did; sent again it goes on.
func TestAnImportThatIsBrokenOffSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.db.Write().Exec("CREATE TRIGGER broken BEFORE INSERT ON targets WHEN NEW.name = 'b.example' BEGIN SELECT RAISE(FAIL, 'disk'); END").Error; err != nil {
		t.Fatal(err)
	}
	file := asCSV("url", "https://a.example/", "https://b.example/", "https://c.example/")
	said, end := b.importing(file, false)
	if end.Stopped == nil || end.Stopped.Status != http.StatusInternalServerError || end.Created != 1 || len(said) != 1 {
		t.Fatalf("%+v %v", end, said)
	}
	if err := b.db.Write().Exec("DROP TRIGGER broken").Error; err != nil {
		t.Fatal(err)
	}
	if said, end = b.importing(file, false); end.Stopped != nil || end.Created != 2 || end.Unchanged != 1 {
		t.Errorf("%+v %v", end, said)
	}
}

// An import whose key is revoked meanwhile goes no further than the hundred targets it is at, and says why.
// It may be asked earlier, where a hundred take longer than it may go on unasked.
func TestImportsEndWithTheirKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TRIGGER ended AFTER INSERT ON targets WHEN NEW.name = 'h30.example' BEGIN UPDATE api_keys SET revoked_at_ms = 1 WHERE key_hash = '" + session.HashToken(editorKey) + "'; END")
	lines := []string{"url"}
	for i := range 110 {
		lines = append(lines, fmt.Sprintf("https://h%d.example/", i))
	}
	said, end := b.importing(asCSV(lines...), false)
	if end.Stopped == nil || end.Stopped.Status != http.StatusUnauthorized || end.Created < 31 || end.Created > askAgainEvery || len(said) != end.Created {
		t.Errorf("%d lines, %+v, want 401 after the 31st, by the 100th", len(said), end)
	}
	if n := len(b.stored()); n != end.Created {
		t.Errorf("%d targets were stored, %d said", n, end.Created)
	}
}

// Nor do they go on when their answer is read slowly.
func TestImportsAreJudgedAgainInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, after := lastAsked{at: time.Now()}, []int{}
		for line := range 2*askAgainEvery + 50 {
			if line == 2*askAgainEvery+20 {
				time.Sleep(askAgainAfter)
			}
			if asked.longAgo() {
				after = append(after, line+1)
			}
		}
		if !slices.Equal(after, []int{askAgainEvery, 2 * askAgainEvery, 2*askAgainEvery + 21}) {
			t.Errorf("judged again after lines %v", after)
		}
	})
}

func TestALongExportIsWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lines := []string{"url"}
	for i := range transferPage + 3 {
		lines = append(lines, fmt.Sprintf("https://h%d.example/", i))
	}
	if _, end := b.importing(asCSV(lines...), false); end.Created != transferPage+3 {
		t.Fatalf("%+v", end)
	}
	var file struct {
		Targets []struct{ URL string }
		Count   int
	}
	b.do("GET", transferPath, "", as(viewerKey)).into(t, &file)
	if len(file.Targets) != transferPage+3 || file.Count != transferPage+3 || file.Targets[transferPage].URL != fmt.Sprintf("https://h%d.example/", transferPage) {
		t.Errorf("%d targets", len(file.Targets))
	}
}
