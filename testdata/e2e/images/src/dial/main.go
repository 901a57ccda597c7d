// Command dial looks a name up, connects to it, sends a line and prints the one that comes back. It retries 60 times, or as often as told.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

func main() {
	retries := 60
	if len(os.Args) == 4 {
		retries, _ = strconv.Atoi(os.Args[3])
	} else if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: dial HOST:PORT LINE [RETRIES]")
		os.Exit(2)
	}
	// Pods that are to answer may not be there yet.
	answer, err := ask(os.Args[1], os.Args[2])
	for tries := 0; err != nil && tries < retries; tries++ {
		time.Sleep(500 * time.Millisecond)
		answer, err = ask(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "dial: %v\n", err)
		os.Exit(1)
	}
	fmt.Print(answer)
}

func ask(address, line string) (string, error) {
	connection, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	if _, err := fmt.Fprintf(connection, "%s\r\n", line); err != nil {
		return "", err
	}
	return bufio.NewReader(connection).ReadString('\n')
}
