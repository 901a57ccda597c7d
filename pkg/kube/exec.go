package kube

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
)

// execProtocol is how the streams of a command are told apart: the first byte of each message names one.
const execProtocol = "v4.channel.k8s.io"

// The channels of execProtocol.
const (
	channelOut   = 1
	channelErr   = 2
	channelError = 3
)

// The kinds of WebSocket frames that a server sends.
const (
	frameContinued = 0
	frameText      = 1
	frameBinary    = 2
	frameClose     = 8
)

// maxFrame is far more than an API server puts into one message.
const maxFrame = 64 << 20

// Exec runs a command in a container and copies what it writes. A command that fails is an error.
func (c *Client) Exec(ctx context.Context, namespace, pod, container string, command []string, out, errOut io.Writer) error {
	query := url.Values{"container": {container}, "command": command, "stdout": {"true"}, "stderr": {"true"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+PodPath(namespace, pod)+"/exec?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	key := make([]byte, 16)
	_, _ = rand.Read(key) // it never fails
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", "websocket")
	request.Header.Set("Sec-WebSocket-Version", "13")
	request.Header.Set("Sec-WebSocket-Key", base64.StdEncoding.EncodeToString(key))
	request.Header.Set("Sec-WebSocket-Protocol", execProtocol)
	settings := rest.CopyConfig(c.settings)
	settings.NextProtos = []string{"http/1.1"} // newer versions cannot change the protocol of a connection
	client, err := rest.HTTPClientFor(settings)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusSwitchingProtocols {
		return refusal(response)
	}
	// A connection that has changed its protocol does not end with its request.
	defer context.AfterFunc(ctx, func() { _ = response.Body.Close() })()
	err = receive(bufio.NewReader(response.Body), out, errOut)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// receive copies the streams of a command until it has ended.
func receive(stream *bufio.Reader, out, errOut io.Writer) error {
	var message []byte
	for {
		kind, last, payload, err := readFrame(stream)
		if err != nil {
			return fmt.Errorf("the connection to the container broke: %w", err)
		}
		switch kind {
		case frameClose:
			return errors.New("the connection to the container was closed before the command ended")
		case frameContinued, frameText, frameBinary:
		default:
			continue // pings need no answer while the server has something to say
		}
		if message = append(message, payload...); !last {
			continue
		}
		if len(message) > 0 {
			done, err := deliver(message[0], message[1:], out, errOut)
			if done || err != nil {
				return err
			}
		}
		message = message[:0]
	}
}

// deliver passes one message on; done tells that it was the command's end.
func deliver(channel byte, data []byte, out, errOut io.Writer) (done bool, err error) {
	switch channel {
	case channelOut:
		_, err = out.Write(data)
	case channelErr:
		_, err = errOut.Write(data)
	case channelError:
		var status struct{ Status, Message string }
		if err := json.Unmarshal(data, &status); err != nil {
			return true, fmt.Errorf("reading how the command ended: %w", err)
		}
		if status.Status != "Success" {
			return true, errors.New(status.Message)
		}
		return true, nil
	}
	return false, err
}

// readFrame reads a frame of a WebSocket server, which are not masked.
func readFrame(stream *bufio.Reader) (kind byte, last bool, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(stream, head[:]); err != nil {
		return 0, false, nil, err
	}
	length := uint64(head[1] & 0x7f)
	switch length {
	case 126:
		var short uint16
		err = binary.Read(stream, binary.BigEndian, &short)
		length = uint64(short)
	case 127:
		err = binary.Read(stream, binary.BigEndian, &length)
	}
	if err != nil {
		return 0, false, nil, err
	}
	if length > maxFrame || head[1]&0x80 != 0 {
		return 0, false, nil, errors.New("the server's message is malformed")
	}
	payload = make([]byte, length)
	_, err = io.ReadFull(stream, payload)
	return head[0] & 0x0f, head[0]&0x80 != 0, payload, err
}
