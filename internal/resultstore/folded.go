package resultstore

import "strings"

// foldedStatus is the number of the status of a target as a whole at one slot time, over
// the rows of its regions: more than half of those that measured have to say down. It is
// availability.Counts.Fold in SQL, and the only place where SQL says it.
const foldedStatus = `multiIf(countIf(status <= 'down') > 0,
 multiIf(countIf(status = 'down') * 2 > countIf(status <= 'down'), 3, countIf(status = 'down' OR status = 'degraded') > 0, 2, 1),
 countIf(status = 'unknown') > 0, 4, 5)`

// fragments puts the parts into a statement of sql/ that it shares with others.
func fragments(sql, targets string) string {
	return strings.NewReplacer("/*folded*/", foldedStatus, "/*targets*/", targets).Replace(sql)
}
