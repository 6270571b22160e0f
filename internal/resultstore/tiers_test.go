package resultstore

import (
	"fmt"
	"testing"
	"time"
)

// load makes the server write results of targets × 3 regions, one a minute: latencies are
// normal around a level of their target and region, 1 % is not up.
func load(b *testing.B, s *Store, targets int, from time.Time, hours int) {
	b.Helper()
	for h := 0; h < hours; h += 24 {
		n := min(24, hours-h)
		_, err := s.write(b.Context(), fmt.Sprintf(`INSERT INTO results (target_id, region, scheduled_at, checked_at, status, failure, reason, http_status,
 dns_us, connect_us, tls_us, wait_us, transfer_us, total_us, message, resolved_ip, cert_not_after, attempt, prober, spec_version, revision, protocol, tls_version, hops, wire_bytes, body_bytes, marks, evidence)
SELECT target, region, at, at + toIntervalMillisecond(rand(1) %% 40), status, status = 3 ? 'timeout' : '', '', status = 3 ? 0 : 200,
 status = 3 ? 0 : dns, status = 3 ? 0 : connect, status = 3 ? 0 : tls, status = 3 ? 0 : wait, status = 3 ? 0 : transfer, status = 3 ? 10000000 : dns + connect + tls + wait + transfer, status = 3 ? 'timeout after 10s' : '',
 toIPv6('::ffff:192.0.2.1'), toDateTime('2027-03-01 00:00:00', 'UTC') + target %% 1000 * 86400, 1, concat('prober-', region), 1, bitShiftLeft(toUInt64(2), 62) + toUnixTimestamp64Milli(at) * 1000 + 1000000 + rand(2) %% 900000,
 'HTTP/1.1', 772, 1, body, body, 0, ''
FROM (SELECT intDiv(number, %[1]d) + 1 AS target, ['ap', 'eu', 'us'][number %% 3 + 1] AS region,
  toDateTime64({from:DateTime('UTC')}, 3, 'UTC') + toIntervalMinute(intDiv(number %% %[1]d, 3)) + toIntervalMillisecond(cityHash64(target) %% 60000) AS at,
  1000 + cityHash64(target, region) %% 100000 AS level,
  multiIf(rand(3) %% 1000 < 5, 3, rand(3) %% 1000 < 10, 2, 1) AS status,
  toUInt32(abs(800 + 200 * randNormal(0, 1, 4))) AS dns, toUInt32(abs(level * (0.25 + 0.01 * randNormal(0, 1, 5)))) AS connect, toUInt32(abs(level * (0.33 + 0.01 * randNormal(0, 1, 6)))) AS tls,
  toUInt32(abs(level * (1 + 0.07 * randNormal(0, 1, 7)))) AS wait, toUInt32(abs(300 + 80 * randNormal(0, 1, 8))) AS transfer, 1000 + cityHash64(target) %% 50000 AS body
 FROM numbers(%[2]d))
ORDER BY target, region, at`, n*180, n*180*targets), []any{seconds("from", from.Add(time.Duration(h)*time.Hour))})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHour computes an hour of 6,000 series again: one that is under way, and one
// that had been closed, of a week of which every hour has its rows.
func BenchmarkHour(b *testing.B) {
	s, _ := open(b)
	from := time.Now().UTC().Truncate(day).Add(-2 * day)
	for h := 0; h < 24; h += 6 { // 8.64 million rows: an hour lies scattered over its day
		load(b, s, 2000, from.Add(time.Duration(h)*time.Hour), 6)
	}
	r := Rollup{Bucket: from.Add(3 * time.Hour), Marked: time.UnixMilli(1), Version: time.Now(), Unseen: true}
	compute := func() {
		b.Helper()
		r.Version = r.Version.Add(time.Second)
		if done, err := s.RecomputeHour(b.Context(), r); err != nil || done.Rows != 8000 {
			b.Fatal(done, err)
		}
	}
	compute()
	if _, err := s.write(b.Context(), `INSERT INTO rollup_1h SELECT * REPLACE (toDateTime(toMonday(bucket), 'UTC') + h * 3600 AS bucket) FROM rollup_1h ARRAY JOIN range(168) AS h
WHERE bucket = {bucket:DateTime('UTC')} AND toDateTime(toMonday(bucket), 'UTC') + h * 3600 != bucket`, []any{seconds("bucket", r.Bucket)}); err != nil {
		b.Fatal(err)
	}
	for _, table := range []string{"results", "rollup_1h"} { // as they are an hour later; nothing is heard of it for longer than a question may take
		_ = s.conn.Exec(b.Context(), `OPTIMIZE TABLE `+table+` FINAL`)
		for parts := uint64(2); parts > 1; time.Sleep(time.Second) {
			if err := s.conn.QueryRow(b.Context(), `SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = '`+table+`'`).Scan(&parts); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, r.Closed = range []bool{false, true} {
		b.Run(fmt.Sprintf("closed=%v", r.Closed), func(b *testing.B) {
			for b.Loop() {
				compute()
			}
		})
	}
}

// BenchmarkBytes says how many bytes a row of each tier takes, index included: of two
// million results, of the hours and days made from them, and of those hours copied to
// other targets until there are two million.
func BenchmarkBytes(b *testing.B) {
	s, _ := open(b)
	const targets, days = 100, 5
	from := time.Now().UTC().Truncate(day).Add(-(days + 1) * day)
	load(b, s, targets, from, days*24) // 2.16 million rows
	version := time.Now()
	for h := range days * 24 {
		if _, err := s.RecomputeHour(b.Context(), Rollup{Bucket: from.Add(time.Duration(h) * time.Hour), Version: version.Add(time.Duration(h) * time.Second)}); err != nil {
			b.Fatal(err)
		}
	}
	exec := func(sql string) {
		b.Helper()
		if _, err := s.write(b.Context(), sql, nil); err != nil {
			b.Fatal(err)
		}
	}
	for d := range days {
		if _, err := s.RecomputeDay(b.Context(), Rollup{Bucket: from.Add(time.Duration(d) * day), Version: version}); err != nil {
			b.Fatal(err)
		}
	}
	measure := func(name string, tables ...string) {
		b.Helper()
		for _, table := range tables {
			exec(`OPTIMIZE TABLE ` + table + ` FINAL`)
			var rows, bytes uint64
			if err := s.conn.QueryRow(b.Context(), `SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase() AND table = '`+table+`'`).Scan(&rows, &bytes); err != nil {
				b.Fatal(err)
			}
			b.Logf("%s%s: %d rows, %.1f bytes each", table, name, rows, float64(bytes)/float64(rows))
			b.ReportMetric(float64(bytes)/float64(rows), table+name+"-B/row")
		}
	}
	measure("", "results", "rollup_1h", "rollup_1d", "rollup_dirty")
	exec(fmt.Sprintf(`INSERT INTO rollup_1h SELECT * REPLACE (target_id + 1000 * copy AS target_id) FROM rollup_1h ARRAY JOIN range(1, %d) AS copy
SETTINGS max_threads = 1, max_block_size = 512, min_insert_block_size_rows = 65536`, 2_000_000/(targets*4*days*24)+1))
	measure("-copied", "rollup_1h")
	for b.Loop() { // the figures are in the metrics
	}
}
