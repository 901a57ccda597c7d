package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/helmchart/source"
)

// newChart returns the commands that operon calls to read charts. They are not an interface for users: each reads a request
// as JSON on stdin, and writes the answer as JSON on stdout or the error as one line on stderr.
func newChart(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:    "chart",
		Short:  "Read Helm charts for operon",
		Hidden: true,
		Args:   noArgs,
		RunE:   func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:   "fetch",
		Short: "Fetch the chart of a request on stdin",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return answer(c.Context(), s, source.Fetch) },
	}, &cobra.Command{
		Use:   "render",
		Short: "Render the chart of a request on stdin",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return answer(c.Context(), s, source.Render) },
	})
	return c
}

// answer reads a request and writes its answer.
func answer[Request, Answer any](ctx context.Context, s streams, serve func(context.Context, Request) (*Answer, error)) error {
	// Helm's library logs values that it merges, and they can be secrets. Its warnings that matter are in the answer.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	var request Request
	if err := readRequest(s.in, &request); err != nil {
		return err
	}
	answer, err := serve(ctx, request)
	if err != nil {
		return errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	return json.NewEncoder(s.out).Encode(answer)
}
