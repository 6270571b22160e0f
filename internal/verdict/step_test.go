package verdict

import (
	"strings"
	"testing"
	"time"
)

const allUp = "0 ap,eu,us up\n"

func TestIncidents(t *testing.T) {
	t.Parallel()
	one := "60 eu,us down\n"
	for name, c := range map[string]struct {
		policy  Policy
		lines   string
		want    string
		state   State
		because string // in the last decision
	}{
		"a quorum opens at once, one good region of three ends it": {Policy{}, allUp + "60 ap up\n60 eu,us down\n120 ap,eu,us up",
			"61 opened 60 page\n121 resolved 60 note", StateUp, "Ended after 1 min. Down in 1 of 3 regions: us status 503."},
		"a minority is degraded, and nobody is told":                        {Policy{}, allUp + "60 eu down\n60 ap,us up", "", StateDegraded, ""},
		"a minority can be left out":                                        {Policy{Degraded: Degraded{IgnoreMinority: true}}, allUp + "60 eu down\n60 ap,us up", "", StateUp, ""},
		"back-dated to the quorum, not to a region that failed long before": {Policy{}, allUp + "60 eu down\n60 ap,us up\n120 eu down\n120 ap,us up\n180 eu down\n180 us down", "181 opened 180 page", StateDown, "It began at 2026-03-01 12:03:00 UTC. Rule: 2 of 3 regions must fail (majority)."},
		"back-dated to a region that began up to an interval before":        {Policy{}, allUp + "60 eu down\n120 us down", "121 opened 60 page", StateDown, ""},
		"all must fail": {Policy{Quorum: Quorum{Rule: QuorumAll}}, allUp + "60 eu,us down\n120 eu,us,ap down", "121 opened 60 page", StateDown, "3 of 3 regions must fail (all)"},
		"any may":       {Policy{Quorum: Quorum{Rule: QuorumCount, Count: 1}}, allUp + "60 eu down", "61 opened 60 page", StateDown, "1 of 3 regions must fail (set number)"},
		"a firm number": {Policy{Quorum: Quorum{AtLeast: 3, Firm: true}}, allUp + "60 blind us 60-\n60 eu,ap down", "", StateDegraded, ""},
		"a firm number, and all who can judge are no minority": {Policy{Quorum: Quorum{AtLeast: 3, Firm: true}, Degraded: Degraded{IgnoreMinority: true}}, allUp + "60 blind us 60-\n60 eu,ap down", "", StateDegraded, ""},
		"results in a row":                                              {Policy{DownAfter: 2, UpAfter: 3}, allUp + "60 eu,us down\n120 eu,us down\n180 eu,us up\n240 eu,us up\n300 eu,us up", "121 opened 60 page\n301 resolved 60 note", StateUp, "Ended after 2 min"},
		"a row is broken":                                               {Policy{DownAfter: 2}, allUp + "60 eu,us down\n120 eu,us up\n180 eu,us down", "", StateUp, ""},
		"unknown breaks none":                                           {Policy{DownAfter: 2}, allUp + "60 eu,us down\n120 eu,us unknown\n180 eu,us down", "181 opened 60 page", StateDown, ", each 2 times in a row."},
		"failing from the first result on":                              {Policy{DownAfter: 3}, "0 eu,us,ap down", "", StateDegraded, ""},
		"a row that outlasts what was good":                             {Policy{DownAfter: 3}, allUp + "60 eu,us,ap down\n120 eu,us,ap down\n125 tick", "", StateUp, ""},
		"it was":                                                        {Policy{DownAfter: 3}, allUp + "60 eu,us,ap down\n120 eu,us,ap down\n140 tick", "", StateDegraded, ""},
		"a minority of that is ignored, too":                            {Policy{DownAfter: 3, Degraded: Degraded{IgnoreMinority: true}}, allUp + "60 eu down\n60 us,ap up\n120 eu down\n120 us,ap up\n140 tick", "", StateUp, ""},
		"all are none":                                                  {Policy{DownAfter: 3, Degraded: Degraded{IgnoreMinority: true}}, "0 eu,us,ap down", "", StateDegraded, ""},
		"for a time":                                                    {Policy{ForS: 90}, allUp + "60 eu,us down\n120 eu,us down\n149 tick\n150 tick", "150 opened 60 page", StateDown, ", for 1 min 30 s."},
		"not for long enough":                                           {Policy{ForS: 90}, allUp + "60 eu,us down\n120 eu,us up\n150 tick", "", StateUp, ""},
		"waits for the first word of everyone":                          {Policy{}, "0 eu down\n1 us up\n2 ap up", "", StateDegraded, ""},
		"but not for long":                                              {Policy{}, "0 eu down\n60 eu down\n85.9 tick\n86 tick", "86 opened 0 page", StateDown, ""},
		"silence of the good ones opens nothing":                        {Policy{}, allUp + "60 eu down\n60 ap,us up\n120 eu down\n180 eu down\n195 tick", "", StateDown, ""},
		"a failing result after that does":                              {Policy{}, allUp + "60 eu down\n60 ap,us up\n120 eu down\n180 eu down\n195 tick\n240 eu down", "241 opened 60 page", StateDown, "the only region that can judge must fail"},
		"silence ends nothing":                                          {Policy{}, allUp + one + "200 tick\n600 tick", "61 opened 60 page", StateNoData, ""},
		"nor does a page stay for ever":                                 {Policy{}, allUp + one + "600 tick\n660 eu,us up", "61 opened 60 page\n661 resolved 60 note", StateUp, "Ended after 10 min"},
		"an edit ends nothing":                                          {Policy{}, allUp + one + "90 edit\n91 tick", "61 opened 60 page", StateNoData, ""},
		"what comes after it does":                                      {Policy{}, allUp + one + "90 edit\n120 ap up\n130 eu,us up of 120", "61 opened 60 page\n130 resolved 60 note", StateUp, "Ended after 1 min"},
		"the first to speak after an edit are no quorum":                {Policy{}, allUp + "90 edit\n120 eu down\n121 us up of 120\n122 ap up of 120", "", StateDegraded, ""},
		"nor are they when they are well":                               {Policy{}, allUp + one + "90 edit\n120 ap up\n130 eu,us down of 120", "61 opened 60 page", StateDown, ""},
		"nor when it gets worse":                                        {Policy{OpenOn: SeverityDegraded}, allUp + "60 eu down\n90 edit\n120 eu down\n125 ap,us up of 120", "61 opened 60 page", StateDegraded, ""},
		"who stays silent after an edit is waited for":                  {Policy{}, allUp + one + "90 edit\n120 eu up\n180 eu up", "61 opened 60 page\n175 resolved 60 note", StateUp, ""},
		"and once it had time to, what is seen counts":                  {Policy{OpenOn: SeverityDegraded}, allUp + "60 eu down\n90 edit\n120 eu down\n176 tick", "61 opened 60 page\n175 severity_changed 60 page", StateDown, ""},
		"with a long interval that is not for long":                     {Policy{}, allUp + "60 hourly\n90 edit\n120 eu,us down\n174 tick\n176 tick", "175 opened 120 page", StateDown, ""},
		"a late result does not move what began before":                 {Policy{}, allUp + one + "90 edit\n180 eu,us,ap down\n185 eu,us down of 120\n240 eu,us,ap up", "61 opened 60 page\n185 corrected 60\n185 corrected 60\n241 resolved 60 note", StateUp, "Ended after 3 min"},
		"a row does not go on through an edit":                          {Policy{DownAfter: 3}, allUp + "60 ap,eu,us down\n120 ap,eu,us down\n130 edit\n180 ap,eu,us down\n240 ap,eu,us down", "", StateDegraded, ""},
		"nor does an outage":                                            {Policy{ForS: 90}, allUp + "60 eu,us,ap down\n120 eu,us,ap down\n130 edit\n180 eu,us,ap down\n240 eu,us,ap down\n269 tick\n270 tick", "270 opened 180 page", StateDown, ""},
		"one that was suppressed is over":                               {Policy{}, allUp + "50 maintain 50-100\n" + one + "70 edit\n80 tick\n120 eu,us,ap up", "61 suppressed 60 by maintenance\n70 resolved 60 by maintenance", StateUp, ""},
		"what was well before an edit is not after it":                  {Policy{DownAfter: 3}, allUp + "90 edit\n120 eu,us,ap down", "", StateDegraded, ""},
		"pausing ends it":                                               {Policy{}, allUp + one + "90 pause", "61 opened 60 page\n90 resolved 60 note", StatePaused, "it is not known how it ended"},
		"degraded opens if asked to":                                    {Policy{OpenOn: SeverityDegraded}, allUp + "60 eu down\n60 us down\n120 us up\n180 eu up", "61 opened 60 page\n61 severity_changed 60 page\n121 severity_changed 60\n181 resolved 60 note", StateUp, ""},
		"maintenance":                                                   {Policy{}, allUp + "50 maintain 50-100\n" + one + "90 tick\n100 tick\n110 tick\n120 eu,us down", "61 suppressed 60 by maintenance\n121 opened 60 page", StateDown, "Until now it was suppressed by maintenance."},
		"over before maintenance":                                       {Policy{}, allUp + "50 maintain 50-100\n" + one + "90 eu,us up of 80\n110 tick", "61 suppressed 60 by maintenance\n90 resolved 60 by maintenance", StateUp, "No longer down."},
		"a result from maintenance that comes after it":                 {Policy{}, allUp + "50 maintain 50-100\n101 eu,us down of 90\n120 eu,us up", "101 suppressed 90 by maintenance\n121 resolved 90 by maintenance", StateUp, ""},
		"maintenance begins later":                                      {Policy{}, allUp + one + "90 maintain 90-300\n120 eu,us up", "61 opened 60 page\n121 resolved 60 note", StateMaintenance, "Ended after 1 min. In maintenance; Down in 1 of 3"},
		"the parent is down":                                            {Policy{}, allUp + "59 parent\n" + one + "120 eu,us down", "61 suppressed 60 by parent", StateDown, "it depends on the router, which is down"},
		"the parent is back, and it is not":                             {Policy{}, allUp + "59 parent\n" + one + "90 no parent\n120 eu,us down", "61 suppressed 60 by parent\n121 opened 60 page", StateDown, "suppressed by parent"},
		"the parent is back, and so is it":                              {Policy{}, allUp + "59 parent\n" + one + "90 no parent\n120 eu,us up", "61 suppressed 60 by parent\n121 resolved 60 by parent", StateUp, ""},
		"what was measured before the parent was back tells nothing":    {Policy{}, allUp + "59 parent\n" + one + "125 parent until 125\n130 eu,us down of 120\n180 eu,us up", "61 suppressed 60 by parent\n181 resolved 60 by parent", StateUp, ""},
		"nor does it when it is seen first then":                        {Policy{}, allUp + "59 parent\n70 parent until 70\n75 eu,us down of 65\n120 eu,us down", "75 suppressed 65 by parent\n121 opened 65 page", StateDown, "suppressed by parent"},
		"the parent is looked at first":                                 {Policy{}, allUp + "59 await 0 30 1\n" + one + "70 parent\n75 await 0 30 1\n120 eu,us down", "70 suppressed 60 by parent", StateDown, ""},
		"and is well":                                                   {Policy{}, allUp + "59 await 0 30 1\n" + one + "70 await 61 30 70", "70 opened 60 page", StateDown, ""},
		"or says nothing":                                               {Policy{}, allUp + "59 await 0 30 1\n" + one + "90 tick\n91 tick", "91 opened 60 page", StateDown, ""},
		"a blind region is not asked":                                   {Policy{}, allUp + "59 blind ap 50-\n60 eu,ap down\n60 us up", "", StateDegraded, ""},
		"the others are enough":                                         {Policy{}, allUp + "59 blind ap 50-\n60 ap,eu,us down", "61 opened 60 page", StateDown, "blind, so not asked: ap. It began"},
		"all are blind":                                                 {Policy{}, "0 eu up\n1 blind eu 1-\n60 eu down", "", StateNoData, ""},
		"found blind later":                                             {Policy{Quorum: Quorum{Rule: QuorumCount, Count: 1}}, allUp + "60 eu down\n70 blind eu 55-70\n120 eu,us up", "61 opened 60 page\n121 resolved 60 note", StateUp, "Ended after 1 min"},
		"what a region saw while it was blind counts for nothing later": {Policy{}, allUp + "60 eu down\n61 blind eu 55-65\n70 tick", "", StateUp, "Up in 3 of 3 regions."},
		"a region that failed all along lends its slot once": {Policy{}, allUp + "60 eu,us down\n60 ap up\n120 eu down\n120 ap,us up\n180 eu down\n240 eu down\n300 eu down",
			"61 opened 60 page\n121 resolved 60 note\n301 opened 300\n301 flapping_began 300 note", StateDown, "It is flapping, and down again."},
		"blindness opens nothing":                   {Policy{}, allUp + "60 eu down\n61 blind us 55-\n62 blind us 55-", "", StateDegraded, ""},
		"late down opens nothing":                   {Policy{DownAfter: 2}, allUp + "60 us down\n60 eu down\n180 eu,us down of 120\n181 eu,us down of 60\n190 tick", "180 opened 60 page", StateDown, ""},
		"late down makes a row, the next one opens": {Policy{DownAfter: 2}, allUp + "120 eu,us down\n130 eu,us down of 60\n140 tick\n180 eu down", "130 corrected 60\n130 corrected 60\n181 opened 60 page", StateDown, ""},
		"late down moves the beginning":             {Policy{}, allUp + "120 eu,us down\n130 eu,us down of 60", "121 opened 120 page\n130 corrected 120\n130 corrected 120", StateDown, "us's result of 2026-03-01 12:01:00 UTC (down, status 503) came late: us has been failing since 2026-03-01 12:01:00 UTC"},
		"late up ends what was none":                {Policy{DownAfter: 2}, allUp + "60 eu,us down\n180 eu,us down\n190 eu up of 120", "181 opened 60 page\n190 corrected 60\n190 resolved 60 note", StateDegraded, ""},
		"a correction":                              {Policy{}, allUp + "60 eu,us down\n70 us up of 60", "61 opened 60 page\n70 corrected 60\n70 resolved 60 note", StateDegraded, ""},
		"an old result says nothing":                {Policy{}, allUp + "60 eu,us up\n120 eu,us up\n180 eu,us up\n240 eu,us up\n300 eu,us up\n360 eu,us up\n420 eu,us up of 60\n420 eu,us down of -60", "", StateUp, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, c.policy, c.lines)
			if got := s.told(); got != c.want {
				t.Errorf("decisions\n%s\nwant\n%s", got, c.want)
			}
			v := s.state.Verdict(s.rules, s.conditions, s.state.At)
			if s.state.State != c.state || v.State != c.state {
				t.Errorf("is %s, %q", s.state.State, v.Why)
			}
			last := v.Why
			if len(s.decisions) > 0 {
				last = s.decisions[len(s.decisions)-1].Why
			}
			if !strings.Contains(last, c.because) {
				t.Errorf("says %q, want %q", last, c.because)
			}
		})
	}
}

func TestHowLongItTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 s", 400 * time.Millisecond: "0 s", 59500 * time.Millisecond: "1 min", 45 * time.Second: "45 s", 5*time.Minute + 45*time.Second: "5 min 45 s",
		time.Hour: "1 h", 2*time.Hour + 5*time.Minute + 59*time.Second: "2 h 5 min", 76*time.Hour + time.Minute: "3 d 4 h", 24*time.Hour + time.Minute: "1 d",
	} {
		if got := lasted(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
