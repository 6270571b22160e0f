package resultstore

import "github.com/ClickHouse/clickhouse-go/v2"

// onCluster has an insert acknowledged only when the shards have it, on two replicas
// where there are, and lets them do their part of a query alone: all rows of a target
// are on one of them. A replica that lags is not asked: who computes rollups looks for marks
// from two minutes before the last time on, and would never see one that comes later than that.
func onCluster(settings clickhouse.Settings) {
	for name, value := range map[string]any{
		"distributed_foreground_insert":                      1,
		"insert_quorum":                                      "auto",
		"distributed_product_mode":                           "local",
		"optimize_skip_unused_shards":                        1,
		"parallel_distributed_insert_select":                 2,
		"max_replica_delay_for_distributed_queries":          60,
		"fallback_to_stale_replicas_for_distributed_queries": 0,
	} {
		settings[name] = value
	}
}

// local is what holds the rows of a table on a node.
func (s *Store) local(table string) string {
	if s.cluster == "" {
		return table
	}
	return table + "_local"
}

// everywhere names it in a statement that alters it or deletes from it, on all nodes.
func (s *Store) everywhere(table string) string {
	if s.cluster == "" {
		return table
	}
	return s.local(table) + " ON CLUSTER '" + s.cluster + "'"
}
