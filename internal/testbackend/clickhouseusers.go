package testbackend

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// ClickHouseUsers is an engine of the test's own with the users of a file of grants, and an
// administrator who looks on.
type ClickHouseUsers struct {
	t          testing.TB
	base, http *url.URL
}

var (
	sqlComment = regexp.MustCompile(`(?m)^--.*$`)
	sqlHash    = regexp.MustCompile(`'SHA256_[A-Z_]+'`)
	sqlGrant   = regexp.MustCompile("^(GRANT .*) TO `?([^ `]+)`?$")
)

// NewClickHouseUsers starts one with the users of the file, filled in as its operator does: with
// the statements about a region for each of them.
//
// This engine keeps no users but those of its configuration. So what the file grants is put
// there, and the file is run, too: it must be understood to the end.
func NewClickHouseUsers(t testing.TB, path string, regions ...string) *ClickHouseUsers {
	t.Helper()
	c := &ClickHouseUsers{t: t}
	statements := c.statements(path, regions)
	grants := map[string][]string{"admin": nil}
	for _, statement := range statements {
		if parts := sqlGrant.FindStringSubmatch(statement); parts != nil {
			grants[parts[2]] = append(grants[parts[2]], parts[1])
		}
	}
	if err := c.start(grants); err != nil {
		t.Fatalf("clickhouse for tests: %v", err)
	}
	for _, statement := range statements {
		_, err := c.admin(statement)
		aboutUsers := strings.HasPrefix(statement, "CREATE USER ") || sqlGrant.MatchString(statement)
		if err != nil && (!aboutUsers || !strings.Contains(err.Error(), "ACCESS_STORAGE_READONLY")) {
			t.Fatal(err)
		}
	}
	return c
}

// statements are those of a file.
func (c *ClickHouseUsers) statements(path string, regions []string) (all []string) {
	c.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	text := sqlHash.ReplaceAllString(sqlComment.ReplaceAllString(string(content), ""), "'"+hashOf("nobody")+"'")
	for statement := range strings.SplitSeq(text, ";") {
		statement = strings.TrimSpace(statement)
		switch {
		case statement == "":
		case strings.Contains(statement, "REGION"):
			for _, region := range regions {
				all = append(all, strings.ReplaceAll(statement, "REGION", region))
			}
		default:
			all = append(all, statement)
		}
	}
	return all
}

// start starts the engine with users laid over those of its configuration. Nothing is granted to
// who may do everything.
func (c *ClickHouseUsers) start(grants map[string][]string) error {
	dir, err := serverDir("clickhouse")
	if err != nil {
		return err
	}
	var users strings.Builder
	for name, granted := range grants {
		fmt.Fprintf(&users, "<%s><password_sha256_hex>%s</password_sha256_hex><profile>default</profile><quota>default</quota>", name, hashOf(name))
		if granted == nil {
			users.WriteString("<access_management>1</access_management>")
		} else {
			users.WriteString("<grants><query>" + strings.Join(granted, "</query><query>") + "</query></grants>")
		}
		users.WriteString("</" + name + ">")
	}
	if err := os.Mkdir(filepath.Join(dir, "users.d"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "users.d", "users.xml"), []byte("<clickhouse><users>"+users.String()+"</users></clickhouse>"), 0o600); err != nil {
		return err
	}
	engine, err := startClickHouse(embedded.Options{Dir: dir})
	if err != nil {
		return err
	}
	c.t.Cleanup(engine.Kill)
	if c.base, err = url.Parse(engine.URL()); err != nil {
		return err
	}
	c.http, err = url.Parse(engine.HTTPURL())
	return err
}

// RunFile runs a file as the administrator: twice, as after an upgrade.
func (c *ClickHouseUsers) RunFile(path string) {
	c.t.Helper()
	for range 2 {
		for _, statement := range c.statements(path, nil) {
			c.Admin(statement)
		}
	}
}

// URL is that of a user, in the database `probefleet`.
func (c *ClickHouseUsers) URL(user string) string { return as(c.base, user, "/probefleet") }

// Admin runs a statement as the administrator, and gives what it is answered.
func (c *ClickHouseUsers) Admin(statement string) string {
	c.t.Helper()
	answer, err := c.admin(statement)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer
}

func (c *ClickHouseUsers) admin(statement string) (string, error) {
	ctx, cancel := soon()
	defer cancel()
	return post(ctx, as(c.http, "admin", "/"), statement)
}

// Refused tells how often somebody was denied something so far, and what was the last.
func (c *ClickHouseUsers) Refused() (all []string) {
	c.t.Helper()
	const accessDenied = 497
	if said := strings.TrimSpace(c.Admin(fmt.Sprintf("SELECT value, last_error_message FROM system.errors WHERE code = %d", accessDenied))); said != "" {
		all = append(all, said)
	}
	return all
}
