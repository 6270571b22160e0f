package live

// Messages of the protocol probefleet.v1.json. The documents that describe it are made from
// these types. A browser says those of Commands; a node says the others.
type (
	// Hello greets. It changes nothing.
	Hello struct {
		T string `json:"t" enum:"hello"`
	}

	// Sub subscribes to a channel, from a position if there is one to go on from. A second
	// one for the same channel replaces the first.
	Sub struct {
		T    string    `json:"t" enum:"sub"`
		ID   string    `json:"id" maxLength:"64" doc:"comes back in the answer"`
		Ch   string    `json:"ch" example:"targets"`
		From *Position `json:"from,omitempty" doc:"of a snapshot, or of the last delta that was read"`
	}

	// Unsub ends a subscription. It has no answer.
	Unsub struct {
		T  string `json:"t" enum:"unsub"`
		Ch string `json:"ch"`
	}

	// Pong answers a ping.
	Pong struct {
		T string `json:"t" enum:"pong"`
	}

	// Welcome is the first message of a node.
	Welcome struct {
		T          string `json:"t" enum:"welcome"`
		Epoch      string `json:"epoch" doc:"this node's life: from a position of another one it goes on by the mark, as long as it can"`
		ServerTime string `json:"server_time" format:"date-time"`
	}

	// OK answers a sub. Without recovered a new snapshot is needed: deltas follow the present.
	OK struct {
		T         string `json:"t" enum:"ok"`
		ID        string `json:"id"`
		Ch        string `json:"ch"`
		Epoch     string `json:"epoch"`
		Seq       uint64 `json:"seq"`
		Mark      Mark   `json:"mark,omitempty"`
		Recovered bool   `json:"recovered" doc:"everything since the position that was given follows"`
	}

	// Delta is what changed in a channel. from_seq is the seq of the delta before, or of ok.
	Delta[Op any] struct {
		T       string `json:"t" enum:"delta"`
		Ch      string `json:"ch"`
		FromSeq uint64 `json:"from_seq"`
		Seq     uint64 `json:"seq"`
		Mark    Mark   `json:"mark,omitempty" doc:"of targets: where another node goes on"`
		Ops     []Op   `json:"ops" nullable:"false"`
	}

	// Op is one change: upsert has the whole item as it is now (of a target's ticks only those
	// that are new), remove has none.
	Op[ID, Item any] struct {
		Op   string `json:"op" enum:"upsert,remove"`
		ID   ID     `json:"id"`
		Item *Item  `json:"item,omitempty"`
	}

	// Resync says that the reader fell behind what is kept: it needs a new snapshot.
	Resync struct {
		T      string `json:"t" enum:"resync"`
		Ch     string `json:"ch"`
		Reason string `json:"reason"`
	}

	// Err says that a message of the browser could not be obeyed.
	Err struct {
		T       string `json:"t" enum:"err"`
		ID      string `json:"id" doc:"of the sub; empty where there was none to read"`
		Code    string `json:"code" enum:"malformed,unknown_message,unknown_channel,forbidden_channel,too_many_channels"`
		Message string `json:"message"`
	}

	// Ping wants a pong: who says nothing for 35 s is let go.
	Ping struct {
		T string `json:"t" enum:"ping"`
	}
)
