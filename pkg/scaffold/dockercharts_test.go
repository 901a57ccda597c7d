package scaffold

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestAddChartsToImage adds the charts to the final stage of a Dockerfile, once, and removes them again.
func TestAddChartsToImage(t *testing.T) {
	t.Parallel()
	const builder = "FROM golang AS builder\nCOPY . .\nRUN go build\n"
	const charts = "COPY watches.yaml ./\nCOPY helm-charts/ helm-charts/\n"
	for text, want := range map[string]string{
		builder + "FROM static\nWORKDIR /\nCOPY --from=builder /m .\nUSER 65532\n":                            builder + "FROM static\nWORKDIR /\nCOPY --from=builder /m .\n" + charts + "USER 65532\n",
		builder + "FROM static\nCOPY --from=builder /m .\nWORKDIR /app\n# COPY x y\nUSER 65532\n":             builder + "FROM static\nCOPY --from=builder /m .\nWORKDIR /app\n" + charts + "# COPY x y\nUSER 65532\n",
		builder + "FROM static\nUSER 65532\n":                                                                 builder + "FROM static\n" + charts + "USER 65532\n",
		builder + "from static\ncopy --from=builder \\\n  # the manager\n  /m \\\n\n  .":                      builder + "from static\ncopy --from=builder \\\n  # the manager\n  /m \\\n\n  .\n" + charts,
		builder + "FROM static\nCOPY --from=builder /m watches.yaml .\n":                                      builder + "FROM static\nCOPY --from=builder /m watches.yaml .\n" + charts,
		builder + "FROM static\nCOPY watches.yaml watches.yaml\nCOPY [\"./helm-charts\", \"/helm-charts\"]\n": "",
		builder + "FROM static\nCOPY watches.yaml watches.yaml\nUSER 1\n":                                     builder + "FROM static\nCOPY watches.yaml watches.yaml\nCOPY helm-charts/ helm-charts/\nUSER 1\n",
		builder: "",
		strings.ReplaceAll(builder+"FROM static\nCOPY --from=builder /m .\n", "\n", "\r\n"): strings.ReplaceAll(builder+"FROM static\nCOPY --from=builder /m .\n"+charts, "\n", "\r\n"),
	} {
		if want == "" {
			want = text
		}
		tree := worktree.NewTree(afero.NewMemMapFs(), "/")
		tree.WriteFile("Dockerfile", []byte(text), worktree.FileMode)
		for range 2 {
			if note := AddChartsToImage(tree); note != "" {
				t.Errorf("%q: %s", text, note)
			}
			if got, _ := tree.ReadFile("Dockerfile"); string(got) != want {
				t.Fatalf("%q became\n%s\nwant\n%s", text, got, want)
			}
		}
		RemoveChartsFromImage(tree)
		if got, _ := tree.ReadFile("Dockerfile"); strings.Contains(string(got), "COPY watches.yaml ./") || strings.Contains(string(got), "COPY helm-charts/") {
			t.Errorf("charts remain in\n%s", got)
		}
	}
	for _, text := range []string{"", "# nothing\n", "FROM a\nRUN <<EOF\nCOPY x y\nEOF\n"} {
		tree := worktree.NewTree(afero.NewMemMapFs(), "/")
		tree.WriteFile("Dockerfile", []byte(text), worktree.FileMode)
		note := AddChartsToImage(tree)
		if got, _ := tree.ReadFile("Dockerfile"); string(got) != text || !strings.Contains(note, `add "COPY watches.yaml ./" and "COPY helm-charts/ helm-charts/"`) {
			t.Errorf("%q became %q (%s)", text, got, note)
		}
	}
	tree := worktree.NewTree(afero.NewMemMapFs(), "/")
	if note := AddChartsToImage(tree); note != "" || tree.Exists("Dockerfile") || tree.Exists(".dockerignore") {
		t.Errorf("without a Dockerfile: %s", note)
	}
}

// TestPermitCharts adds the patterns to lists of permitted files only.
func TestPermitCharts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"**\n!**/*.go\n**/*_test.go\n":               "**\n!**/*.go\n**/*_test.go\n!watches.yaml\n!helm-charts/**\n",
		"*\r\n!go.mod\r\n":                           "*\r\n!go.mod\r\n!watches.yaml\r\n!helm-charts/**\r\n",
		"*\n!helm-charts/\n!watches.yaml":            "*\n!helm-charts/\n!watches.yaml",
		"**\n!helm-charts/**":                        "**\n!helm-charts/**\n!watches.yaml\n",
		"bin/\ntestbin/\n":                           "bin/\ntestbin/\n",
		"# a list of files that are not sent\nbin\n": "# a list of files that are not sent\nbin\n",
	} {
		tree := worktree.NewTree(afero.NewMemMapFs(), "/")
		tree.WriteFile(".dockerignore", []byte(text), worktree.FileMode)
		for range 2 {
			AddChartsToImage(tree)
			if got, _ := tree.ReadFile(".dockerignore"); string(got) != want {
				t.Fatalf("%q became %q, want %q", text, got, want)
			}
		}
	}
}
