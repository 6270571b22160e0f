// Package wsconntest is a client of the live feed for tests of what stands on wsconn.
package wsconntest

import (
	"context"
	"net/http"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn"
)

// Client is one end of a socket.
type Client struct{ conn *websocket.Conn }

// Dial opens a socket as a page of the same origin does, with cookies that it may have.
func Dial(ctx context.Context, origin, path string, cookies ...string) (*Client, error) {
	//nolint:bodyclose // the library says that there is none to close
	conn, _, err := websocket.Dial(ctx, origin+path, &websocket.DialOptions{Subprotocols: []string{wsconn.Subprotocol}, HTTPHeader: http.Header{"Origin": {origin}, "Cookie": cookies}})
	if err != nil {
		return nil, err
	}
	return &Client{conn}, nil
}

// Write sends a message.
func (c *Client) Write(ctx context.Context, text string) error {
	return c.conn.Write(ctx, websocket.MessageText, []byte(text))
}

// Read waits for a message.
func (c *Client) Read(ctx context.Context) (string, error) {
	_, text, err := c.conn.Read(ctx)
	return string(text), err
}

// Close ends the socket without a word.
func (c *Client) Close() { _ = c.conn.CloseNow() }
