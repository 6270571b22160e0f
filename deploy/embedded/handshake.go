package embedded

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
)

// handshake greets a ClickHouse server over its native protocol and returns
// nil when the server accepts the user. It is all the protocol needed to know
// that the listener is up; queries go through the driver.
func handshake(ctx context.Context, address, user, pass string) error {
	const protocol = 54448
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	hello := []byte{0} // client hello
	hello = appendString(hello, "probefleet")
	for _, n := range []uint64{1, 0, protocol} {
		hello = binary.AppendUvarint(hello, n)
	}
	for _, text := range []string{"", user, pass} {
		hello = appendString(hello, text)
	}
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	answer, err := binary.ReadUvarint(bufio.NewReader(conn))
	if err != nil {
		return fmt.Errorf("native handshake: %w", err)
	}
	if answer != 0 {
		return fmt.Errorf("native handshake refused (packet %d)", answer)
	}
	return nil
}

func appendString(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}
