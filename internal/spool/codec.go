package spool

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/probefleet/probefleet/internal/resultstore"
)

const (
	magic      = "PFSB"
	version    = 1
	headerSize = 20
	crcAt      = 16

	maxPayload = 64 << 20 // bytes of JSON, and of a file without its header
)

// encoder keeps the compressor, 600 KB of it, from the first batch on.
type encoder struct {
	deflate *flate.Writer
}

// encode refuses what decode with the same limit would not read back.
func (e *encoder) encode(b resultstore.Batch, limit int) ([]byte, error) {
	if e.deflate == nil {
		e.deflate, _ = flate.NewWriter(io.Discard, flate.BestSpeed) // fails only for a level that does not exist
	}
	var file bytes.Buffer
	file.Write(make([]byte, headerSize))
	text, err := json.Marshal(toBatch(b))
	if err != nil {
		return nil, err
	}
	if len(text) > limit {
		return nil, fmt.Errorf("%d rows are %d bytes, and a file holds %d", len(b.Rows), len(text), limit)
	}
	e.deflate.Reset(&file)
	if _, err := e.deflate.Write(text); err != nil {
		return nil, err
	}
	if err := e.deflate.Close(); err != nil {
		return nil, err
	}
	seal(file.Bytes())
	return file.Bytes(), nil
}

// seal fills in the header of a file whose payload stands behind it.
func seal(file []byte) {
	copy(file, magic)
	binary.LittleEndian.PutUint16(file[4:], version)
	binary.LittleEndian.PutUint64(file[8:], uint64(len(file)-headerSize))
	binary.LittleEndian.PutUint32(file[crcAt:], checksum(file))
}

func checksum(file []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(file[:crcAt], table), table, file[headerSize:])
}

// decode reads a file back, inflating at most limit bytes. Its errors say what is
// wrong with the file.
func decode(file []byte, limit int) (resultstore.Batch, error) {
	switch {
	case len(file) < headerSize:
		return resultstore.Batch{}, fmt.Errorf("only %d bytes", len(file))
	case string(file[:4]) != magic:
		return resultstore.Batch{}, fmt.Errorf("starts with %x", file[:4])
	case binary.LittleEndian.Uint64(file[8:]) != uint64(len(file)-headerSize):
		return resultstore.Batch{}, fmt.Errorf("%d bytes of payload, should be %d", len(file)-headerSize, binary.LittleEndian.Uint64(file[8:]))
	case binary.LittleEndian.Uint32(file[crcAt:]) != checksum(file):
		return resultstore.Batch{}, fmt.Errorf("checksum differs")
	case binary.LittleEndian.Uint16(file[4:]) != version:
		return resultstore.Batch{}, fmt.Errorf("format %d, written by another release", binary.LittleEndian.Uint16(file[4:]))
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(file[headerSize:])), int64(limit)+1))
	if err != nil {
		return resultstore.Batch{}, fmt.Errorf("inflate: %w", err)
	}
	if len(text) > limit {
		return resultstore.Batch{}, fmt.Errorf("inflates to more than %d bytes", limit)
	}
	var b batch
	if err := json.Unmarshal(text, &b); err != nil {
		return resultstore.Batch{}, fmt.Errorf("payload: %w", err)
	}
	return b.batch(), nil
}
