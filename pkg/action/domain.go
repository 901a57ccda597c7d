package action

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// SetDomain changes the domain of a project without APIs in all lines that Init writes it to. Edited lines are kept. It returns the
// changed PROJECT.
func (p *Project) SetDomain(tree *worktree.Tree, config *project.Config, domain string) (*project.Config, error) {
	before, err := p.initialFiles(config, config.Domain())
	if err != nil {
		return nil, err
	}
	after, err := p.initialFiles(config, domain)
	if err != nil {
		return nil, err
	}
	for name, text := range before {
		from, to := strings.Split(string(text), "\n"), strings.Split(string(after[name]), "\n")
		data, err := tree.ReadFile(name)
		if err != nil || slices.Equal(from, to) || len(from) != len(to) {
			continue // without the file there is nothing to change
		}
		lines := strings.Split(string(data), "\n")
		for i, line := range from {
			for j := range lines {
				if line != to[i] && lines[j] == line {
					lines[j] = to[i]
				}
			}
		}
		tree.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644)
	}
	p.config, err = p.LoadFrom(tree, RecentLayouts)
	if err == nil && p.config.Domain() != domain {
		err = fmt.Errorf("%s does not have its domain in a line of its own; write domain: %s into it", project.FileName, domain)
	}
	return p.config, err
}

// initialFiles returns the files that Init writes for a project with the given domain.
func (p *Project) initialFiles(config *project.Config, domain string) (map[string][]byte, error) {
	data := p.ProjectData(config, "")
	data.Project.Domain = domain
	rendered, err := scaffold.Render("init", data)
	if err != nil {
		return nil, err
	}
	written, err := project.New(project.Options{Domain: domain, Repo: config.Repo(), ProjectName: config.ProjectName()})
	if err != nil {
		return nil, err
	}
	rendered.Files[project.FileName] = written.Bytes()
	return rendered.Files, nil
}
