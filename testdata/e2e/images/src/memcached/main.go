// Command memcached stands in for memcached: it listens where memcached does and answers "version" and unknown
// commands, which is enough to be Ready and to be asked whether it is there.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

func main() {
	// The flags that operators start memcached with.
	flag.Int("m", 64, "memory in megabytes; not used")
	flag.String("o", "", "extended options; not used")
	flag.Bool("v", false, "not used")
	port := flag.String("p", "11211", "port")
	flag.Parse()
	listener, err := net.Listen("tcp", ":"+*port)
	if err != nil {
		fmt.Fprintf(os.Stderr, "memcached: %v\n", err)
		os.Exit(1)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			fmt.Fprintf(os.Stderr, "memcached: %v\n", err)
			os.Exit(1)
		}
		go serve(connection)
	}
}

func serve(connection net.Conn) {
	defer connection.Close()
	for lines := bufio.NewScanner(connection); lines.Scan(); {
		answer := "ERROR\r\n"
		if strings.TrimSpace(lines.Text()) == "version" {
			answer = "VERSION 1.6.39\r\n"
		}
		if _, err := io.WriteString(connection, answer); err != nil {
			return
		}
	}
}
