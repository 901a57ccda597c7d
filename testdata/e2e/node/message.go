package node

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
)

// message is what the node tells the machine: a line of JSON on a pipe.
type message struct {
	// Step has been done.
	Step string `json:"step,omitempty"`
	// Error ended the node.
	Error string `json:"error,omitempty"`
}

// The steps of a node.
const (
	StepRegistry     = "registry"
	StepContainerd   = "containerd"
	StepControlPlane = "control plane"
	StepKubelet      = "kubelet, kube-proxy and network policies"
)

// messages writes messages; it may be used from several goroutines.
type messages struct {
	mu sync.Mutex
	to io.Writer
}

func (m *messages) send(one message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return json.NewEncoder(m.to).Encode(one)
}

// readMessages calls got for each message until the other end is closed.
func readMessages(from io.Reader, got func(message)) error {
	for decoder := json.NewDecoder(from); ; {
		var one message
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			return nil
		} else if err != nil {
			return err
		}
		got(one)
	}
}
