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
	c.AddCommand(
		answering(s, "fetch", "Fetch the chart of a request on stdin", source.Fetch),
		answering(s, "render", "Render the chart of a request on stdin", source.Render),
		answering(s, "lint", "Find problems of the chart of a request on stdin", source.Lint),
		answering(s, "template", "Render the manifests of a request on stdin", source.Template),
		answering(s, "package", "Package the chart of a request on stdin", source.Package),
		answering(s, "describe", "Describe the archive of a request on stdin", source.Describe),
	)
	return c
}

// answering returns a command that answers one kind of requests.
func answering[Request, Answer any](s streams, name, short string, serve func(context.Context, Request) (*Answer, error)) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return answer(c.Context(), s, serve) },
	}
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
