package kube

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

func TestReceive(t *testing.T) {
	t.Parallel()
	success := "\x82\x15\x03" + `{"status":"Success"}`
	for stream, want := range map[string]string{
		"\x82\x03\x01ab" + success:                                 "ab|",
		"\x82\x03\x02ab\x82\x02\x01c" + success:                    "c|ab",
		"\x02\x02\x01a\x89\x00\x00\x01b\x80\x01c" + success:        "abc|",
		"\x82\x7e\x00\x03\x01ab" + success:                         "ab|",
		"\x82\x7f\x00\x00\x00\x00\x00\x00\x00\x03\x01ab" + success: "ab|",
		"\x82\x00\x82\x01\x01\x82\x02\x09x" + success:              "|",
		"\x82\x24\x03" + `{"status":"Failure","message":"no"}`:     "| no",
		"\x82\x02\x03x":    "| reading how the command ended: ",
		"\x82\x03\x01ab":   "ab| the connection to the container broke: EOF",
		"\x82\x03\x01a":    "| the connection to the container broke: unexpected EOF",
		"\x88\x00":         "| the connection to the container was closed before the command ended",
		"\x82\x81\x00\x00": "| the connection to the container broke: the server's message is malformed",
		"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff": "| the connection to the container broke: the server's message is malformed",
	} {
		var out, errOut bytes.Buffer
		err := receive(bufio.NewReader(strings.NewReader(stream)), &out, &errOut)
		got := out.String() + "|" + errOut.String()
		if err != nil {
			got += " " + err.Error()
		}
		if got != want && !(strings.HasSuffix(want, ": ") && strings.HasPrefix(got, want)) {
			t.Errorf("%q: got %q, want %q", stream, got, want)
		}
	}
}
