// Package fairqueue lets those who want more than there is take turns.
//
// It is start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996): each party has a line
// of its own, and what is taken next is from the party that has been given least. A party that
// puts in ten thousand at once delays its own, and anybody else by one at most.
package fairqueue

import "container/heap"

// Queue is a queue of many lines. The zero Queue is ready to use, by one goroutine at a time.
//
// Promises:
//   - Of one party what was put in first comes out first.
//   - Between parties that all have something in line, what was given to any two differs by
//     no more than the cost of one of each.
//   - Who has had nothing in line gets no credit for it, and who comes back right after its
//     turn is owed nothing before those who wait: an empty line is remembered until the others
//     have been given as much.
//   - With one of each party it is first come, first served.
type Queue[T any] struct {
	lines map[string]*line[T]
	order byStart[T] // all lines, the empty ones too
	given uint64     // what every party in line has been given at least
	came  uint64
	size  int
}

type line[T any] struct {
	party string
	start uint64 // what it has been given, once for all those who came late
	items []item[T]
	at    int // in order
}

type item[T any] struct {
	value T
	came  uint64
}

// Len is how many are in line.
func (q *Queue[T]) Len() int { return q.size }

// Push puts one at the end of its party's line.
func (q *Queue[T]) Push(party string, value T) {
	if q.lines == nil {
		q.lines = make(map[string]*line[T])
	}
	l := q.lines[party]
	if l == nil {
		l = &line[T]{party: party, start: q.given}
		q.lines[party] = l
		heap.Push(&q.order, l)
	}
	q.came++
	q.size++
	l.items = append(l.items, item[T]{value: value, came: q.came})
	heap.Fix(&q.order, l.at)
}

// Pop takes the next. Its cost is what its party is counted to have been given with it: nothing,
// and the party's turn is not over.
func (q *Queue[T]) Pop(cost func(T) uint64) (value T, found bool) {
	for q.size > 0 {
		l := q.order[0]
		if len(l.items) == 0 {
			heap.Pop(&q.order)
			delete(q.lines, l.party)
			continue
		}
		first := l.items[0]
		l.items[0] = item[T]{}
		l.items = l.items[1:]
		q.given = l.start
		l.start += cost(first.value)
		heap.Fix(&q.order, 0)
		if q.size--; q.size == 0 {
			*q = Queue[T]{}
		}
		return first.value, true
	}
	return value, false
}

// byStart is a heap.
type byStart[T any] []*line[T]

func (o byStart[T]) Len() int { return len(o) }

// Less is the order of turns. Of those given as much who came first has the next; an empty
// line is past its turn, and out of the way first.
func (o byStart[T]) Less(i, j int) bool {
	a, b := o[i], o[j]
	if a.start != b.start {
		return a.start < b.start
	}
	if len(a.items) == 0 || len(b.items) == 0 {
		return len(a.items) < len(b.items)
	}
	return a.items[0].came < b.items[0].came
}

func (o byStart[T]) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].at, o[j].at = i, j
}

func (o *byStart[T]) Push(l any) {
	added := l.(*line[T])
	added.at = len(*o)
	*o = append(*o, added)
}

func (o *byStart[T]) Pop() any {
	last := len(*o) - 1
	l := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return l
}
