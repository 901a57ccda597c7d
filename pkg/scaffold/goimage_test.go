package scaffold

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestCheckGoImage compares the Go images of Dockerfiles with the Go version of go.mod.
func TestCheckGoImage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, needed, want string }{
		{"FROM golang:1.26.0 AS builder", "1.26.3", "Dockerfile:2: golang:1.26.0 is older than Go 1.26.3, which go.mod requires"},
		{"FROM --platform=$BUILDPLATFORM mirror.example.com/library/golang:1.25@sha256:0 as b", "1.26.0", "Dockerfile:2: golang:1.25 is older"},
		{"from golang:1.24-alpine", "1.26", "Dockerfile:2: golang:1.24 is older"},
		{"FROM golang:1.26 AS builder", "1.26.3", ""},
		{"FROM golang:1.26.5-bookworm@sha256:0 AS builder", "1.26.3", ""},
		{"FROM golang:1.26.3", "1.26.3", ""},
		{"FROM golang:1.27rc1", "1.26.3", ""},
		{"FROM golang:${GO_VERSION}", "1.26.3", ""},
		{"# FROM golang:1.20", "1.26.3", ""},
		{"FROM golang", "1.26.3", ""},
	} {
		tree := worktree.NewTree(afero.NewMemMapFs(), "/")
		tree.WriteFile("go.mod", []byte("module m\n\ngo "+c.needed+"\n"), worktree.FileMode)
		tree.WriteFile("Dockerfile", []byte("# Build\n"+c.from+"\nRUN go build\n"), worktree.FileMode)
		findings, err := CheckGoImage(tree)
		if err != nil {
			t.Fatal(err)
		}
		if got := findings.Err(); (got == nil) != (c.want == "") || got != nil && !strings.Contains(got.Error(), c.want) {
			t.Errorf("%s with Go %s: %v", c.from, c.needed, got)
		}
	}
	tree := worktree.NewTree(afero.NewMemMapFs(), "/")
	tree.WriteFile("go.mod", []byte("module m\n\ngo 1.26.3\n"), worktree.FileMode)
	if findings, err := CheckGoImage(tree); err != nil || len(findings) > 0 {
		t.Errorf("without a Dockerfile: %v %v", findings, err)
	}
}
