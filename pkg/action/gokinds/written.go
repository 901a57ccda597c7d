package gokinds

import (
	"context"
	"maps"
	"sync"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/vcs"
)

// writtenLines finds the lines of a project that another tool wrote: the lines that a known release of it writes or, if the release is not
// known, the lines from commits that changed PROJECT.
type writtenLines struct {
	known func(file, line string) bool
	// useHistory reports whether the release is unknown, so that the history decides.
	useHistory bool
	commits    func() []*vcs.Commit
	committed  map[string]map[string]bool
}

func findWrittenLines(ctx context.Context, p *action.Project, config *project.Config) (*writtenLines, error) {
	known, err := migrate.ReadCreatedLines()
	if err != nil {
		return nil, err
	}
	return &writtenLines{
		known: known.Lines(action.ScaffoldNames(config)), useHistory: !known.Includes(config.CLIVersion()),
		committed: map[string]map[string]bool{},
		commits: sync.OnceValue(func() (commits []*vcs.Commit) {
			err := p.RunStep("reading the git history", func() error {
				history, err := vcs.OpenHistory(p.Root)
				if err == nil {
					commits, err = history.Changes(ctx, project.FileName)
				}
				return err
			})
			if err != nil {
				p.Reportf(diag.Detail, "files of unknown releases count as edited: %v", err)
			}
			return commits
		}),
	}, nil
}

// Has reports whether another tool wrote a line of a file, without the space around it.
func (w *writtenLines) Has(file, line string) bool {
	if w.known(file, line) {
		return true
	}
	if !w.useHistory {
		return false
	}
	if w.committed[file] == nil {
		w.committed[file] = map[string]bool{}
		for _, commit := range w.commits() {
			lines, _ := commit.AddedLines(file) // without them, the lines count as the user's
			maps.Copy(w.committed[file], lines)
		}
	}
	return w.committed[file][line]
}
