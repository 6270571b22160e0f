package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

const (
	configName = "config.xml"
	usersName  = "users.xml"
	// User is who URL logs in as.
	User = "probefleet"
	// Database is the one URL leads to.
	Database = "probefleet"

	defaultMemory = 2560 << 20
	// threadMemory has to be free for each thread of a question: several times what one takes. The engine's own
	// 1 GiB would leave one thread to nearly all of them, and without a limit those of a large machine are too many.
	threadMemory = 256 << 20
)

// The engine is sized for one machine that has other work: small caches, few
// merge threads, and merges that may use a whole closed day at once (the
// free-entries settings must fit the small pool, else those never start).
var serverConfig = template.Must(template.New("server").Funcs(escaping).Parse(`<clickhouse>
  <logger><level>warning</level><console>1</console></logger>
  <users_config>{{xml .Users}}</users_config>
  <timezone>UTC</timezone>
  <max_server_memory_usage>{{.MaxMemory}}</max_server_memory_usage>
  <max_server_memory_usage_to_ram_ratio>0.6</max_server_memory_usage_to_ram_ratio>
  <mark_cache_size>134217728</mark_cache_size>
  <primary_index_cache_size>67108864</primary_index_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <query_cache><max_size_in_bytes>16777216</max_size_in_bytes></query_cache>
  <background_pool_size>2</background_pool_size>
  <background_schedule_pool_size>8</background_schedule_pool_size>
  <background_common_pool_size>2</background_common_pool_size>
  <background_fetches_pool_size>1</background_fetches_pool_size>
  <max_connections>512</max_connections>
  <keep_alive_timeout>30</keep_alive_timeout>
  <access_control_improvements><table_engines_require_grant>1</table_engines_require_grant></access_control_improvements>
  <merge_tree>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_mutation>1</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
    <fsync_after_insert>{{.Fsync}}</fsync_after_insert>
    <fsync_part_directory>{{.Fsync}}</fsync_part_directory>
  </merge_tree>
</clickhouse>
`))

// tableEngines (Atomic is the database's) are those that keep their rows in the data folder. The others
// read files or open connections, which no table of ours needs.
func tableEngines() []string {
	return []string{"Atomic", "MergeTree", "ReplacingMergeTree", "SummingMergeTree", "AggregatingMergeTree", "CollapsingMergeTree", "Memory", "Null", "Buffer"}
}

// The engine logs itself in as "default" with an empty password. That session
// takes the user's only slot and may do nothing but open the listeners.
// poll_interval is how often an idle connection looks for a stop, in seconds:
// the default would hold a clean stop up for five.
var usersConfig = template.Must(template.New("users").Funcs(escaping).Parse(`<clickhouse>
  <profiles>
    <default>
      <async_insert>0</async_insert>
      <poll_interval>1</poll_interval>
      <max_memory_usage>{{.QueryMemory}}</max_memory_usage>
      <max_threads_min_free_memory_per_thread>{{.ThreadMemory}}</max_threads_min_free_memory_per_thread>
      <do_not_merge_across_partitions_select_final>1</do_not_merge_across_partitions_select_final>
    </default>
    <bootstrap><max_sessions_for_user>1</max_sessions_for_user></bootstrap>
  </profiles>
  <quotas><default></default></quotas>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>bootstrap</profile>
      <quota>default</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query></grants>
    </default>
    <{{.User}}>
      <password_sha256_hex>{{.PasswordHash}}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SHOW, SELECT, INSERT, ALTER, DROP, TRUNCATE, OPTIMIZE, CHECK, KILL QUERY ON *.*</query>
        <query>GRANT CREATE DATABASE, CREATE TABLE, CREATE VIEW, CREATE TEMPORARY TABLE ON *.*</query>
        <query>GRANT SYSTEM MERGES, SYSTEM TTL MERGES, SYSTEM MOVES, SYSTEM VIEWS, SYSTEM FLUSH, SYSTEM DROP CACHE, SYSTEM SYNC REPLICA ON *.*</query>
{{range .Engines}}        <query>GRANT TABLE ENGINE ON {{.}}</query>
{{end}}      </grants>
    </{{.User}}>
  </users>
</clickhouse>
`))

var escaping = template.FuncMap{"xml": func(text string) (string, error) {
	var out strings.Builder
	err := xml.EscapeText(&out, []byte(text))
	return out.String(), err
}}

// writeConfig renders the configuration of this version into the data folder.
// It is read at start only, so every start writes it anew.
func writeConfig(c child) error {
	pass, err := password(c.dir)
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(pass))
	fsync := 1
	if c.noFsync {
		fsync = 0
	}
	values := map[string]any{
		"Users":        filepath.Join(c.dir, usersName),
		"User":         User,
		"PasswordHash": hex.EncodeToString(hash[:]),
		"MaxMemory":    c.maxMemory,
		"QueryMemory":  c.maxMemory * 3 / 4,
		"ThreadMemory": threadMemory,
		"Fsync":        fsync,
		"Engines":      tableEngines(),
	}
	for name, text := range map[string]*template.Template{configName: serverConfig, usersName: usersConfig} {
		var out strings.Builder
		if err := text.Execute(&out, values); err != nil {
			return fmt.Errorf("render %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(out.String()), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
