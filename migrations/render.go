package migrations

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/template"
	"time"
)

// layout is how the tables of ClickHouse lie: on one node, or on every node of a
// cluster behind tables that spread rows over its shards.
type layout struct{ cluster string } // "" is one node

// render fills in a migration. On a cluster a table NAME becomes NAME_local on each
// node, replicated within its shard, and NAME distributes to them. All versions of a
// row are on one shard, because what it is spread by is part of its key.
func (l layout) render(name, text string) (string, error) {
	parsed, err := template.New(name).Funcs(template.FuncMap{
		"onCluster":   l.onCluster,
		"local":       l.local,
		"everywhere":  l.everywhere,
		"engine":      l.engine,
		"distributed": l.distributed,
	}).Parse(text)
	if err != nil {
		return "", fmt.Errorf("read migration: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, nil); err != nil {
		return "", fmt.Errorf("fill in migration: %w", err)
	}
	return out.String(), nil
}

func (l layout) onCluster() string {
	if l.cluster == "" {
		return ""
	}
	return " ON CLUSTER '" + l.cluster + "'"
}

func (l layout) local(table string) string {
	if l.cluster == "" {
		return table
	}
	return table + "_local"
}

// everywhere lists what has to be altered or dropped when tables are.
func (l layout) everywhere(tables ...string) []string {
	if l.cluster == "" {
		return tables
	}
	var all []string
	for _, table := range tables {
		all = append(all, l.local(table), table)
	}
	return all
}

func (l layout) engine(name string, arguments ...string) string {
	if l.cluster != "" {
		name = "Replicated" + name
		arguments = append([]string{"'/clickhouse/tables/{shard}/{database}/{table}'", "'{replica}'"}, arguments...)
	}
	if len(arguments) == 0 {
		return name
	}
	return name + "(" + strings.Join(arguments, ", ") + ")"
}

// distributed is the statement, after the one that made the local tables, for the table in front of them.
func (l layout) distributed(table, key string) string {
	if l.cluster == "" {
		return ""
	}
	return fmt.Sprintf("\nCREATE TABLE IF NOT EXISTS %s%s AS %s ENGINE = Distributed('%s', currentDatabase(), '%s', cityHash64(%s));",
		table, l.onCluster(), l.local(table), l.cluster, l.local(table), key)
}

// versions makes goose's table known to every node, before goose would make it on one;
// "" where there is only one.
func (l layout) versions() string {
	if l.cluster == "" {
		return ""
	}
	return "CREATE TABLE IF NOT EXISTS " + versionTable + l.onCluster() +
		" (version_id Int64, is_applied UInt8, date Date DEFAULT now(), tstamp DateTime DEFAULT now())" +
		" ENGINE = ReplicatedMergeTree('/clickhouse/tables/{database}/" + versionTable + "', '{shard}-{replica}') ORDER BY version_id"
}

// rendered is a folder of migrations as a layout has them.
type rendered struct {
	fs.FS
	layout layout
}

// Open gives a folder as it is and a file filled in.
func (r rendered) Open(name string) (fs.File, error) {
	file, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || info.IsDir() {
		return file, err
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	text, err := r.layout.render(name, string(content))
	if err != nil {
		return nil, err
	}
	return &textFile{Reader: strings.NewReader(text), name: info.Name()}, nil
}

// textFile is a rendered migration.
type textFile struct {
	*strings.Reader
	name string
}

func (f *textFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *textFile) Close() error               { return nil }
func (f *textFile) Name() string               { return f.name }
func (f *textFile) Mode() fs.FileMode          { return 0o444 }
func (f *textFile) ModTime() time.Time         { return time.Time{} }
func (f *textFile) IsDir() bool                { return false }
func (f *textFile) Sys() any                   { return nil }
