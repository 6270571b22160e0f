package probe

import "net"

// maxCorked is how much is held back at most.
const maxCorked = 16 << 10 // bytes

// corked is a connection under TLS on which nothing leaves before an answer is waited for:
// the last message of a handshake goes in one packet with the request behind it, as it
// would from a browser (RFC 8446 §4.4.4 lets clients speak on at once). That is a system
// call, a packet and a wake-up of the server less. It is for visits that wait for an answer
// after all they send; who only makes a handshake would leave it unfinished.
type corked struct {
	net.Conn
	held []byte
}

// Write implements io.Writer. What went wrong is told by the next call that sends.
func (c *corked) Write(p []byte) (int, error) {
	if len(c.held)+len(p) > maxCorked {
		if err := c.flush(); err != nil {
			return 0, err
		}
	}
	if len(p) > maxCorked {
		return c.Conn.Write(p)
	}
	c.held = append(c.held, p...)
	return len(p), nil
}

// Read implements io.Reader.
func (c *corked) Read(p []byte) (int, error) {
	if err := c.flush(); err != nil && !isReset(err) { // who resets may have answered before
		return 0, err
	}
	return c.Conn.Read(p)
}

// flush sends what is held.
func (c *corked) flush() error {
	if len(c.held) == 0 {
		return nil
	}
	_, err := c.Conn.Write(c.held)
	c.held = c.held[:0]
	return err
}
