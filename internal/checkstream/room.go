package checkstream

// Room is how much a prober can take over. Entries that were delivered twice or more
// without being settled have a room of their own: a delivery counts against an entry,
// so none is taken over before it will be tried.
type Room struct {
	Entries int // of those delivered once before, or never
	Alone   int // of those delivered more often
}

// less is what is left after taking entries over.
func (r Room) less(entries []Entry) Room {
	for _, e := range entries {
		before := e.Deliveries - 1
		if e.Gone { // nobody took it
			before = e.Deliveries
		}
		if before > 1 {
			r.Alone--
		} else {
			r.Entries--
		}
	}
	return r
}

func (r Room) none() bool { return r.Entries <= 0 && r.Alone <= 0 }

// page is what one page of pending entries gave.
type page struct {
	entries []Entry
	cursor  string // the last id looked at; "" at the end
	left    int64  // passed over for want of room
}
