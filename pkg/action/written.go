package action

import (
	"context"
	"errors"
	"strings"

	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/vcs"
)

// writtenLines returns a function that reports whether a create command of another tool wrote a line of a file, with the given files: as
// a known release of the tool does or, if the release is not known, according to the history of the project.
func (p *Project) writtenLines(ctx context.Context, config *project.Config, created []string) (func(file, line string) bool, error) {
	known, err := migrate.ReadCreatedLines()
	if err != nil {
		return nil, err
	}
	lines := known.Lines(scaffoldNames(config))
	if known.Knows(config.CLIVersion()) {
		return lines, nil
	}
	history, err := vcs.OpenHistory(p.Root)
	if errors.Is(err, vcs.ErrNoHistory) {
		return lines, nil
	}
	if err != nil {
		return nil, err
	}
	commits, err := history.Added(ctx, created)
	if err != nil {
		return nil, err
	}
	committed := map[string]map[string]bool{}
	return func(file, line string) bool {
		if lines(file, line) {
			return true
		}
		if committed[file] == nil {
			committed[file] = committedLines(commits, file)
		}
		return committed[file][line]
	}, nil
}

// committedLines returns the lines of a file in the commits that added the files of a deleted kind.
func committedLines(commits map[string]*vcs.Commit, file string) map[string]bool {
	all := map[string]bool{}
	for _, commit := range commits {
		text, err := commit.Text(file)
		if err != nil {
			continue // the file counts as the user's
		}
		for line := range strings.Lines(string(text)) {
			all[strings.TrimSpace(line)] = true
		}
	}
	return all
}
