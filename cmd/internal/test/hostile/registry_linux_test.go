package hostile

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// behaviors maps names of registries to their handlers, which are called with the connection after the header of each request.
var behaviors = map[string]func(conn net.Conn, request string){
	// silent accepts requests and never answers.
	"silent": func(net.Conn, string) { select {} },
	// hangup closes the connection without a response.
	"hangup": func(conn net.Conn, _ string) { conn.Close() },
	// drip sends a byte of the head every two seconds.
	"drip": func(conn net.Conn, _ string) {
		for _, b := range []byte("HTTP/1.1 200 OK\r\nDocker-Distribution-Api-Version: registry/2.0\r\n") {
			if _, err := conn.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(2 * time.Second)
		}
	},
	// stalled announces a manifest and never sends it.
	"stalled": func(conn net.Conn, request string) {
		if !pinged(conn, request) {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.oci.image.manifest.v1+json\r\nContent-Length: 1000\r\n\r\n{")
			select {}
		}
	},
	// endless sends a manifest that never ends.
	"endless": func(conn net.Conn, request string) {
		if pinged(conn, request) {
			return
		}
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.oci.image.manifest.v1+json\r\n\r\n{\"a\":\"")
		for chunk := strings.Repeat("a", 64<<10); ; {
			if _, err := io.WriteString(conn, chunk); err != nil {
				return
			}
		}
	},
	// loop redirects every request to another address of its own.
	"loop": func(conn net.Conn, request string) {
		fmt.Fprintf(conn, "HTTP/1.1 302 Found\r\nLocation: %sx\r\nContent-Length: 0\r\n\r\n", strings.Fields(request)[1])
	},
	// verbose answers with an error whose text never ends.
	"verbose": func(conn net.Conn, request string) {
		if pinged(conn, request) {
			return
		}
		fmt.Fprint(conn, "HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n\r\n{\"errors\":[{\"code\":\"UNKNOWN\",\"message\":\"")
		for chunk := strings.Repeat("e", 64<<10); ; {
			if _, err := io.WriteString(conn, chunk); err != nil {
				return
			}
		}
	},
}

// pinged responds to the first request of clients, which checks whether a registry exists.
func pinged(conn net.Conn, request string) bool {
	if !strings.Contains(request, " /v2/ ") {
		return false
	}
	fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nDocker-Distribution-Api-Version: registry/2.0\r\nContent-Length: 0\r\n\r\n")
	return true
}

// registry starts a registry until the script ends: registry VARIABLE BEHAVIOR. The variable gets its host and port.
func registry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || behaviors[args[1]] == nil {
		ts.Fatalf("usage: registry VARIABLE BEHAVIOR")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(conn, behaviors[args[1]])
		}
	}()
	ts.Setenv(args[0], listener.Addr().String())
}

// answer serves the requests of a connection.
func answer(conn net.Conn, behave func(net.Conn, string)) {
	defer conn.Close()
	for lines := bufio.NewReader(conn); ; {
		request, err := lines.ReadString('\n')
		for line := request; err == nil && strings.TrimSpace(line) != ""; {
			line, err = lines.ReadString('\n')
		}
		if err != nil {
			return
		}
		behave(conn, request)
	}
}
