// Package rollup keeps the hourly and daily figures those of the results: every minute
// it computes the hours again of which rows arrived, and the days that have ended.
//
// Guarantees:
//
//   - Nothing is counted: every row is computed from results as they are and replaces
//     the one before. A run that dies half way, or two at once, do no harm.
//   - Nothing is overlooked. An insert marks its hours before its rows can be seen; a run
//     works on what was marked since two minutes before the last one that finished began,
//     by ClickHouse's clock, and on everything when that clock was put back.
//   - A row that changes an hour which had been published as complete, ten minutes after
//     its end, leaves a correction. Nobody is notified of it.
//   - A day is in the daily figures from ten minutes after its end; today is not.
//   - An hour or a day that cannot be computed does not hold up the others: it is marked
//     again, tried less and less often, told of in health and counted in put_aside. Only a
//     run of which nothing could be computed does not count as one that finished.
//   - A run goes on where the last one ended, whichever publisher that was, newest day
//     first. Hours whose results are about to be dropped are not touched.
package rollup
