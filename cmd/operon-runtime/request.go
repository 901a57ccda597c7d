package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/operon-sdk/operon/pkg/buildinfo"
	"github.com/operon-sdk/operon/pkg/helmchart"
)

// readRequest decodes a request of operon. It reports another protocol before it decodes the fields, which may differ.
func readRequest(in io.Reader, request any) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	var version struct {
		Protocol int `json:"protocol"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return fmt.Errorf("decoding the request: %w", err)
	}
	if err := helmchart.CheckProtocol(version.Protocol, buildinfo.Read().Version); err != nil {
		return err
	}
	if err := json.Unmarshal(data, request); err != nil {
		return fmt.Errorf("decoding the request: %w", err)
	}
	return nil
}
