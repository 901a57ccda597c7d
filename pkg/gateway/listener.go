package gateway

import (
	"net"
	"sync"
)

// A listener can reset its connections, and refuse new ones.
type listener struct {
	net.Listener

	mu      sync.Mutex
	open    map[*conn]bool
	refuses bool
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: accepted, listener: l}
		l.mu.Lock()
		refuses := l.refuses
		if !refuses {
			l.open[c] = true
		}
		l.mu.Unlock()
		if !refuses {
			return c, nil
		}
		c.reset()
	}
}

type conn struct {
	net.Conn
	listener *listener
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// reset closes the connection with RST instead of FIN.
func (c *conn) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // otherwise the connection is closed normally
	}
	_ = c.Conn.Close() // it may be closed already
}

// ResetConnections resets all connections, and returns their number.
func (g *Gateway) ResetConnections() int {
	g.listener.mu.Lock()
	defer g.listener.mu.Unlock()
	for c := range g.listener.open {
		c.reset()
	}
	return len(g.listener.open)
}

// Refuse resets all connections, and new ones until Accept is called, as if no server were running.
func (g *Gateway) Refuse() {
	g.listener.mu.Lock()
	g.listener.refuses = true
	g.listener.mu.Unlock()
	g.ResetConnections()
}

// Accept ends Refuse.
func (g *Gateway) Accept() {
	g.listener.mu.Lock()
	g.listener.refuses = false
	g.listener.mu.Unlock()
}
