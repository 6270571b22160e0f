package probe

import (
	"net"
	"sync"

	"github.com/probefleet/probefleet/internal/uptime"
)

// packetMeter bounds what is read of a visit's sockets, all packets counted.
type packetMeter struct {
	mu   sync.Mutex
	left int64
}

func (m *packetMeter) spend(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left -= int64(n)
}

func (m *packetMeter) exhausted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left <= 0
}

// read says why nothing more comes.
func (m *packetMeter) read(err error, doing string) trouble {
	if m.exhausted() {
		return failed(uptime.FailureTooLarge, errTooMuch.Error())
	}
	return trouble3(err, doing)
}

func (m *packetMeter) trouble(err error) trouble { return m.read(err, "reading the body") }

type meteredPackets struct {
	net.PacketConn
	meter *packetMeter
}

// ReadFrom implements net.PacketConn.
func (c meteredPackets) ReadFrom(p []byte) (int, net.Addr, error) {
	if c.meter.exhausted() {
		return 0, nil, errTooMuch
	}
	n, from, err := c.PacketConn.ReadFrom(p)
	c.meter.spend(n)
	return n, from, err
}

// SetReadBuffer, as SetWriteBuffer, keeps quic-go from asking for 7 MB each: what the system
// gives is enough for one answer.
func (meteredPackets) SetReadBuffer(int) error { return nil }

// SetWriteBuffer is as SetReadBuffer.
func (meteredPackets) SetWriteBuffer(int) error { return nil }
