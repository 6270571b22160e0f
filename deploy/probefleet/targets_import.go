package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/service"
)

// importStall is for how long an import may say nothing: a plan copies tables first.
const importStall = 5 * time.Minute

// importCommand exits with 0 when nothing was, or would be, refused, with 1 when something was, with
// 75 when it could not go through the whole file, and with 78 when this is no file to import.
type importCommand struct {
	File string `arg:"" help:"What 'probefleet export' has written, JSON like it, or a table whose name ends in .csv; - is JSON on the standard input."`
	Plan bool   `help:"Write nothing: tell what would be created, changed and refused."`
	JSON bool   `name:"json" help:"Print JSON."`

	apiFlags `embed:""`
}

// outcomeJSON is what became of a line, as the API says it.
type outcomeJSON struct {
	Line           int             `json:"line"`
	URL            string          `json:"url"`
	Name           string          `json:"name"`
	Outcome        string          `json:"outcome"`
	ID             int64           `json:"id,omitempty"`
	Changes        []changeJSON    `json:"changes,omitempty"`
	Problem        json.RawMessage `json:"problem,omitempty"`
	PreviewCheckID string          `json:"preview_check_id,omitempty"`
}

type changeJSON struct {
	Pointer string          `json:"pointer"`
	From    json.RawMessage `json:"from"`
	To      json.RawMessage `json:"to"`
}

type countsJSON struct {
	DryRun    bool `json:"dry_run"`
	Created   int  `json:"created"`
	Changed   int  `json:"changed"`
	Unchanged int  `json:"unchanged"`
	Refused   int  `json:"refused"`
}

func (c countsJSON) all() int { return c.Created + c.Changed + c.Unchanged + c.Refused }

func (c *countsJSON) add(o countsJSON) {
	c.Created += o.Created
	c.Changed += o.Changed
	c.Unchanged += o.Unchanged
	c.Refused += o.Refused
}

// importJSON is what --json prints.
type importJSON struct {
	countsJSON
	Lines []outcomeJSON `json:"lines"`
	Whole bool          `json:"complete"` // every line of the file has its outcome
}

// importPart is a request, and the lines of the file that it has.
type importPart struct {
	body  map[string]any
	lines []int // nil: as the API counts them, and as many as it says
}

func (c *importCommand) Run(ctx context.Context, to console) error {
	divided, total, err := c.read(to.Err)
	if err != nil {
		return service.Exit(service.ExitConfig, fmt.Errorf("%s: %w", c.File, err))
	}
	done := importJSON{countsJSON: countsJSON{DryRun: c.Plan}, Lines: []outcomeJSON{}}
	for i, part := range divided {
		var api *apiClient
		if api, err = c.connect(ctx, "import", accountstore.RoleEditor); err == nil { // anew: a key that was lent may have ended
			err = c.send(ctx, api, part, to, &done)
		}
		if err != nil {
			break
		}
		if len(divided) > 1 {
			_, _ = fmt.Fprintf(to.Err, "part %d of %d: %d of %s\n", i+1, len(divided), done.all(), countTargets(total))
		}
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	done.Whole = err == nil
	if c.JSON {
		err = errors.Join(err, printJSON(to.Out, done))
	} else {
		c.sum(to.Out, done.countsJSON)
	}
	switch {
	case err != nil && c.Plan:
		return service.Exit(service.ExitDependency, fmt.Errorf("not all of the file was looked at: %w", err))
	case err != nil:
		return service.Exit(service.ExitDependency, fmt.Errorf("not all of the file is imported: %w\nimport it again: what is done is unchanged then", err))
	case done.Refused > 0:
		return fmt.Errorf("%s refused", countTargets(done.Refused))
	}
	return nil
}

// read makes requests of the file.
func (c *importCommand) read(progress io.Writer) (divided []importPart, total int, err error) {
	var text []byte
	if c.File == "-" {
		text, err = io.ReadAll(os.Stdin)
	} else {
		text, err = os.ReadFile(c.File)
	}
	if err != nil {
		return nil, 0, err
	}
	if !utf8.Valid(text) {
		return nil, 0, errors.New("it is not UTF-8: save it as such, or letters like é would be lost")
	}
	if strings.EqualFold(filepath.Ext(c.File), ".csv") { // goes as it is, in one part: the API reads tables
		return []importPart{{body: map[string]any{"csv": string(text), "dry_run": c.Plan}}}, 0, nil
	}
	targets, err := readTargets(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return nil, 0, err
	}
	together, whole, err := parts(targets, importTargets, importBytes)
	if err != nil {
		return nil, 0, err
	}
	if !whole && c.Plan {
		_, _ = fmt.Fprintln(progress, "a parent has more targets below it than the API takes at once: a plan refuses those whose parent is not there yet and stands in another part")
	}
	for _, part := range together {
		p := importPart{}
		raws := make([]json.RawMessage, len(part))
		for i, t := range part {
			raws[i], p.lines = t.raw, append(p.lines, t.line)
		}
		p.body = map[string]any{"targets": raws, "dry_run": c.Plan}
		divided = append(divided, p)
	}
	return divided, len(targets), nil
}

// send has the API go through a part, and adds up what it says.
func (c *importCommand) send(ctx context.Context, api *apiClient, part importPart, to console, done *importJSON) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // as long as it is in the file, by which it was divided
	if err := encoder.Encode(part.body); err != nil {
		return err
	}
	return api.stream(ctx, http.MethodPost, "/api/v1/targets:import", body.Bytes(), importStall, func(answer io.Reader) error {
		said, err := c.follow(json.NewDecoder(answer), part, to, done)
		done.add(said)
		return err
	})
}

// importEndJSON is the last line of an answer that is whole.
type importEndJSON struct {
	countsJSON
	Stopped *struct {
		Detail string `json:"detail"`
	} `json:"stopped"`
}

// follow reads an answer as it comes.
func (c *importCommand) follow(answer *json.Decoder, part importPart, to console, done *importJSON) (said countsJSON, err error) {
	said.DryRun = c.Plan
	for {
		var line struct {
			outcomeJSON
			Complete *importEndJSON `json:"complete"`
		}
		if err := answer.Decode(&line); err != nil {
			return said, fmt.Errorf("the API's answer: %w", cutOff(err))
		}
		if end := line.Complete; end != nil {
			switch {
			case end.Stopped != nil:
				return said, errors.New(plain(end.Stopped.Detail))
			case end.countsJSON != said || part.lines != nil && said.all() != len(part.lines):
				return said, fmt.Errorf("the API's answer: in the end it says %+v, and has told of %+v", end.countsJSON, said)
			}
			return said, nil
		}
		o := line.outcomeJSON
		if part.lines != nil {
			if o.Line < 1 || o.Line > len(part.lines) {
				return said, fmt.Errorf("the API's answer: there is no line %d", o.Line)
			}
			o.Line = part.lines[o.Line-1]
		}
		if err := said.count(o.Outcome); err != nil {
			return said, err
		}
		c.tell(to, o)
		if c.JSON {
			done.Lines = append(done.Lines, o)
		}
	}
}

func (c *countsJSON) count(outcome string) error {
	switch outcome {
	case "created":
		c.Created++
	case "changed":
		c.Changed++
	case "unchanged":
		c.Unchanged++
	case "refused":
		c.Refused++
	default:
		return fmt.Errorf("the API's answer: this version does not know the outcome %q", outcome)
	}
	return nil
}

// tell says what became of a line. What is refused goes to where errors go, however it is printed.
func (c *importCommand) tell(to console, o outcomeJSON) {
	where := plain(o.URL)
	if o.Name != "" {
		where = plain(o.Name) + "  " + where
	}
	switch {
	case o.Outcome == "refused":
		for _, reason := range reasons(o.Problem) {
			_, _ = fmt.Fprintf(to.Err, "line %d refused  %s: %s\n", o.Line, where, reason)
		}
	case c.JSON || o.Outcome == "unchanged":
	default:
		word := o.Outcome
		if c.Plan {
			word = strings.TrimSuffix(word, "d")
		}
		_, _ = fmt.Fprintf(to.Out, "%-8s %s\n", word, where)
		for _, change := range o.Changes {
			_, _ = fmt.Fprintf(to.Out, "           %s: %s → %s\n", plain(change.Pointer), short(plain(string(change.From))), short(plain(string(change.To))))
		}
	}
}

// reasons are what the API has against a line, each with its place.
func reasons(raw json.RawMessage) []string {
	var problem struct {
		Errors []struct {
			Pointer string `json:"pointer"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(raw, &problem) != nil || len(problem.Errors) == 0 {
		return strings.Split(refusal(http.StatusUnprocessableEntity, raw).Error(), "\n")
	}
	said := make([]string, len(problem.Errors))
	for i, e := range problem.Errors {
		said[i] = strings.TrimPrefix(plain(e.Pointer)+": ", ": ") + plain(e.Message)
	}
	return said
}

func (c *importCommand) sum(out io.Writer, n countsJSON) {
	if c.Plan {
		_, _ = fmt.Fprintf(out, "Would create %d, change %d, leave %d as they are and refuse %d. Nothing was written.\n", n.Created, n.Changed, n.Unchanged, n.Refused)
		return
	}
	_, _ = fmt.Fprintf(out, "%d created, %d changed, %d unchanged, %d refused.\n", n.Created, n.Changed, n.Unchanged, n.Refused)
}
