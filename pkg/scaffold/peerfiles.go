package scaffold

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// allWritten reports whether another tool wrote all lines of a text.
func allWritten(name string, lines []string, written func(file, line string) bool) bool {
	return written != nil && !slices.ContainsFunc(lines, func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && !written(name, line)
	})
}

// createdFiles returns the names of the files of what is deleted, without those of init.
func (x *deleter) createdFiles() map[string]bool {
	names := map[string]bool{}
	for name := range x.removed.files {
		names[name] = x.kept.files[name] == nil
	}
	for name := range x.removed.extended {
		names[name] = true
	}
	maps.DeleteFunc(names, func(name string, removed bool) bool { return !removed || !x.tree.Exists(name) })
	return names
}

// isPeers reports whether a create command of another tool wrote all lines of a file but those of the license header, which is the
// project's.
func (x *deleter) isPeers(name string, content []byte) bool {
	content, _ = textdiff.AllToLF(content)
	if path.Ext(name) == ".go" {
		file, err := gosource.Parse(name, content)
		if err != nil {
			return false
		}
		content = content[file.Offset(file.AST.Package):]
	}
	return allWritten(name, strings.Split(string(content), "\n"), x.written)
}

// removeRemains removes what texts at markers leave in a file of another tool: comments, and a blank line before the first import.
func (x *deleter) removeRemains(name string, before, rest []byte) []byte {
	rest, crlf := textdiff.AllToLF(rest)
	before, _ = textdiff.AllToLF(before)
	if bytes.Equal(rest, before) {
		return textdiff.FromLF(rest, crlf)
	}
	lines := strings.Split(string(rest), "\n")
	switch {
	case path.Ext(name) == ".go":
		lines = x.removeGoRemains(name, lines, string(before))
	case name == project.RBACDir+"/"+project.KustomizationFile:
		lines = x.removeLastComment(name, lines)
	}
	return textdiff.FromLF([]byte(strings.Join(lines, "\n")), crlf)
}

// removeGoRemains removes the comments and the blank line that precede a marker since the text between them was removed.
func (x *deleter) removeGoRemains(name string, lines []string, before string) []string {
	for i := 1; i < len(lines); i++ {
		if !strings.Contains(lines[i], "+kubebuilder:scaffold:") || strings.Contains(before, "\n"+lines[i-1]+"\n"+lines[i]) {
			continue
		}
		from := i
		for from > 0 && strings.HasPrefix(strings.TrimSpace(lines[from-1]), "//") && x.written(name, strings.TrimSpace(lines[from-1])) {
			from--
		}
		if isMarker(name, importsMarker, strings.TrimSpace(lines[i])) && strings.TrimSpace(lines[from-1]) == "" {
			from--
		}
		lines = slices.Delete(lines, from, i)
		i = from
	}
	return lines
}

// removeLastComment removes a comment of another tool at the end of a file, which precedes no entry any more.
func (x *deleter) removeLastComment(name string, lines []string) []string {
	end := len(lines)
	for end > 0 {
		line := strings.TrimSpace(lines[end-1])
		if line != "" && (!strings.HasPrefix(line, "#") || !x.written(name, line)) {
			break
		}
		end--
	}
	if !slices.ContainsFunc(lines[end:], func(line string) bool { return strings.TrimSpace(line) != "" }) {
		return lines
	}
	return append(lines[:end:end], "")
}

// removeCertificates removes the rest of config/certmanager, which other tools write with the first webhook.
func (x *deleter) removeCertificates() error {
	if !x.fromPeer || slices.Contains(x.inUse, project.CertManagerDir) || !slices.Contains(x.deleted, project.CertManagerDir+"/"+project.KustomizationFile) {
		return nil
	}
	names, err := x.tree.Walk(project.CertManagerDir, nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		content, ok, err := x.read(name)
		if err != nil {
			return err
		}
		if ok && x.isPeers(name, content) {
			x.deleted = append(x.deleted, name)
		}
	}
	return nil
}
