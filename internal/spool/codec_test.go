package spool

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

var update = flag.Bool("update", false, "write testdata for a new format; never change what a release has written")

// goldenBatch is what testdata/v1.batch holds.
func goldenBatch() resultstore.Batch {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	return resultstore.Batch{Token: "01955c5a-0000-7000-8000-000000000001", Prober: "prober-1", Region: "eu-west", Attempt: 3, Rows: []uptime.Result{
		{TargetID: 1, Region: "eu-west", ScheduledAt: at, CheckedAt: at.Add(time.Millisecond), Status: uptime.StatusUp, HTTPStatus: 200,
			Phases: uptime.Phases{DNS: 1, Connect: 2, TLS: 3, Wait: 4, Transfer: 5}, TotalUS: 15, Address: netip.MustParseAddr("2001:db8::1"),
			CertNotAfter: at.AddDate(1, 0, 0), Attempt: 1, Prober: "prober-1", SpecVersion: 9, IngestedAt: at.Add(time.Second)},
		{TargetID: math.MaxInt64, Region: "eu-west", ScheduledAt: at, Status: uptime.StatusMissed, Reason: uptime.ReasonExpired, Message: "größer & <später>", IngestedAt: at},
		{TargetID: 3, Region: "eu-west", ScheduledAt: at, CheckedAt: at, Status: uptime.StatusDown, Failure: uptime.FailureTimeout, Late: true, Address: netip.MustParseAddr("192.0.2.1"), IngestedAt: at},
	}}
}

func equalBatch(a, b resultstore.Batch) bool {
	return a.Token == b.Token && a.Prober == b.Prober && a.Region == b.Region && a.Attempt == b.Attempt && reflect.DeepEqual(a.Rows, b.Rows)
}

func encoded(t testing.TB, b resultstore.Batch) []byte {
	t.Helper()
	file, err := new(encoder).encode(b, maxPayload)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestEveryFieldComesBack fills each field there is: one that is added to
// uptime.Result and forgotten here would be lost by every outage.
func TestEveryFieldComesBack(t *testing.T) {
	t.Parallel()
	var filled uptime.Result
	fill(t, reflect.ValueOf(&filled).Elem(), 1)
	filled.Issuer = "" // is announced, and not stored
	b := resultstore.Batch{Rows: []uptime.Result{filled, {}}}
	fill(t, reflect.ValueOf(&b.Token).Elem(), 1)
	b.Prober, b.Region, b.Attempt = "p", "r", 2
	if n := reflect.TypeFor[resultstore.Batch]().NumField(); n != 5 {
		t.Errorf("a batch has %d fields: extend the payload", n)
	}
	got, err := decode(encoded(t, b), maxPayload)
	if err != nil || !equalBatch(got, b) {
		t.Fatalf("%v\n got %+v\nwant %+v", err, got, b)
	}
}

func fill(t *testing.T, v reflect.Value, n int) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(int64(1_700_000_000+n), int64(n)).UTC()))
		return
	case netip.Addr:
		v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{192, 0, 2, byte(n)})))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n+i+1)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(-n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), n)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v.SetUint(uint64(200 + n))
	default:
		t.Fatalf("a field of kind %v: extend row and this test", v.Kind())
	}
}

// TestOddRows: values no validation would let through come back too.
func TestOddRows(t *testing.T) {
	t.Parallel()
	b := resultstore.Batch{Rows: []uptime.Result{
		{Status: 255, HTTPStatus: -1, ScheduledAt: time.Date(-5000, 1, 1, 0, 0, 0, 1, time.UTC), CertNotAfter: time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Address: netip.MustParseAddr("fe80::1%eth0"), Message: "\x00\u2028\"\\"},
	}}
	got, err := decode(encoded(t, b), maxPayload)
	if err != nil || !equalBatch(got, b) {
		t.Fatalf("%v\n got %+v\nwant %+v", err, got, b)
	}
}

// TestGolden reads what format 1 wrote: a spool outlives the release that filled it.
func TestGolden(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "v1.batch")
	if *update {
		if err := os.WriteFile(path, encoded(t, goldenBatch()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if head := file[:8]; !bytes.Equal(head, []byte("PFSB\x01\x00\x00\x00")) {
		t.Fatalf("header %q", head)
	}
	got, err := decode(file, maxPayload)
	if err != nil || !equalBatch(got, goldenBatch()) {
		t.Fatalf("%v\n got %+v\nwant %+v", err, got, goldenBatch())
	}
}

// sealed gives a file with a good checksum around any payload.
func sealed(payload []byte) []byte {
	file := append(make([]byte, headerSize), payload...)
	seal(file)
	return file
}

func deflated(text string) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestSpeed)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return out.Bytes()
}

// stored is a deflate stream of up to 64 KiB without compression.
func stored(text []byte) []byte {
	text = text[:min(len(text), math.MaxUint16)]
	head := binary.LittleEndian.AppendUint16([]byte{1}, uint16(len(text)))
	return append(binary.LittleEndian.AppendUint16(head, ^uint16(len(text))), text...)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const limit = 1000
	newer := encoded(t, goldenBatch())
	binary.LittleEndian.PutUint16(newer[4:], 2)
	binary.LittleEndian.PutUint32(newer[crcAt:], checksum(newer))
	for name, c := range map[string]struct {
		file []byte
		want string // part of the error; "": none
	}{
		"nothing":            {nil, "only 0 bytes"},
		"header only":        {sealed(nil), "inflate"},
		"another format":     {newer, "format 2, written by another release"},
		"not deflated":       {sealed([]byte("{}")), "inflate"},
		"not JSON":           {sealed(deflated("[")), "payload"},
		"other types":        {sealed(deflated(`{"rows":[{"target_id":"x"}]}`)), "payload"},
		"unknown fields":     {sealed(deflated(`{"token":"t","later":{"x":[1]},"rows":[{"target_id":7,"colour":"red"}]}`)), ""},
		"missing fields":     {sealed(deflated(`{}`)), ""},
		"above the limit":    {sealed(deflated(strings.Repeat(" ", limit) + "{}")), "more than"},
		"at the limit":       {sealed(deflated(strings.Repeat(" ", limit-2) + "{}")), ""},
		"wrong address":      {sealed(deflated(`{"rows":[{"address":"nowhere"}]}`)), ""},
		"of another program": {[]byte("#!/bin/sh\necho this is not a batch\n"), "starts with"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decode(c.file, limit)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

// TestDamageIsFound: at every byte, whether it is missing or flipped.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	file := encoded(t, goldenBatch())
	for at := range file {
		if _, err := decode(file[:at], maxPayload); err == nil {
			t.Errorf("cut off at %d, it is read", at)
		}
		for _, mask := range []byte{0x01, 0xff} {
			bad := bytes.Clone(file)
			bad[at] ^= mask
			if _, err := decode(bad, maxPayload); err == nil {
				t.Errorf("with byte %d flipped by %#x, it is read", at, mask)
			}
		}
	}
}

// TestTooLargeToReadBack is refused when it is written, not when it is needed.
func TestTooLargeToReadBack(t *testing.T) {
	t.Parallel()
	b := goldenBatch()
	file := encoded(t, b)
	var enc encoder
	for limit := 500; ; limit++ {
		small, err := enc.encode(b, limit)
		if err != nil {
			if _, err := decode(file, limit); err == nil {
				t.Fatalf("%d bytes are refused and could be read back", limit)
			}
			continue
		}
		if got, err := decode(small, limit); err != nil || !equalBatch(got, b) {
			t.Fatalf("%d bytes are taken and cannot be read back: %v", limit, err)
		}
		return
	}
}

func FuzzDecode(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "v1.batch"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(golden[:len(golden)/2])
	f.Add(encoded(f, resultstore.Batch{Token: "t", Rows: make([]uptime.Result, 3)}))
	f.Add([]byte(`{"token":"t","rows":[{"target_id":1,"scheduled_at":[1,2],"address":"::1"}]}`))
	var enc encoder
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range [][]byte{data, sealed(data), sealed(stored(data))} {
			b, err := decode(file, maxPayload)
			if err != nil {
				continue
			}
			file, err := enc.encode(b, maxPayload)
			if err != nil {
				t.Fatal(err)
			}
			again, err := decode(file, maxPayload)
			if err != nil || !equalBatch(again, b) {
				t.Fatalf("%v\n first %+v\nsecond %+v", err, b, again)
			}
		}
	})
}

func FuzzParseName(f *testing.F) {
	f.Add("0000000000000001-2-1772366460000-1772366460001.batch")
	f.Add("ffffffffffffffff-1-1-1.batch")
	f.Add("1-1-1-1.batch")
	f.Fuzz(func(t *testing.T, name string) {
		if e, ok := parseName(name); ok && (e.name() != name || !e.is(e.item()) || e.seq > math.MaxInt64) {
			t.Fatalf("%q gives %+v", name, e)
		}
	})
}
