package scaffold

import (
	"bytes"
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

// registeringCore returns a deletion in a project whose suites register the types of Kubernetes.
func (d Deletion) registeringCore() Deletion {
	d.Removed, d.Kept = slices.Clone(d.Removed), slices.Clone(d.Kept)
	d.RemovedWebhooks, d.KeptWebhooks = slices.Clone(d.RemovedWebhooks), slices.Clone(d.KeptWebhooks)
	for _, all := range [][]Data{d.Removed, d.Kept} {
		for i := range all {
			all[i].Project.RegistersCore = true
		}
	}
	for _, all := range [][]Webhooks{d.RemovedWebhooks, d.KeptWebhooks} {
		for i := range all {
			all[i].Project.RegistersCore = true
		}
	}
	return d
}

func (x *deleter) wrote(name, line string) bool { return allWritten(name, []string{line}, x.written) }

// isPeers reports whether a create command of another tool wrote all lines of a file except the license header, which is the
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

// removeGoRemains removes what precedes a marker since the text between them was removed: comments, and the blank line before the first
// import. Where there were no two blank lines, one of them is removed.
func (x *deleter) removeGoRemains(name string, lines []string, before string) []string {
	isBlank := func(at int) bool { return at >= 0 && strings.TrimSpace(lines[at]) == "" }
	for i := 1; i < len(lines); i++ {
		if !strings.Contains(lines[i], "+kubebuilder:scaffold:") {
			continue
		}
		from := i
		if !strings.Contains(before, "\n"+lines[i-1]+"\n"+lines[i]) {
			for from > 0 && strings.HasPrefix(strings.TrimSpace(lines[from-1]), "//") && x.wrote(name, lines[from-1]) {
				from--
			}
			if isBlank(from-1) && isMarker(name, importsMarker, strings.TrimSpace(lines[i])) {
				from--
			}
		}
		lines = slices.Delete(lines, from, i)
		i = from
	}
	if !strings.Contains(before, "\n\n\n") {
		for i := len(lines) - 1; i > 0; i-- {
			if isBlank(i) && isBlank(i-1) {
				lines = slices.Delete(lines, i, i+1)
			}
		}
	}
	return lines
}

// removeLastComment removes a comment of another tool at the end of a file, which precedes no entry any more.
func (x *deleter) removeLastComment(name string, lines []string) []string {
	end := len(lines)
	for end > 0 {
		line := strings.TrimSpace(lines[end-1])
		if line != "" && (!strings.HasPrefix(line, "#") || !x.wrote(name, line)) {
			break
		}
		end--
	}
	if !slices.ContainsFunc(lines[end:], func(line string) bool { return strings.TrimSpace(line) != "" }) {
		return lines
	}
	return append(lines[:end:end], "")
}

// removeOtherFiles removes the rest of config/certmanager and config/webhook, which other tools write with the first webhook.
func (x *deleter) removeOtherFiles() error {
	for _, dir := range []string{project.CertManagerDir, project.WebhookConfigDir} {
		if !x.fromPeer || slices.Contains(x.inUse, dir) || !slices.Contains(x.deleted, dir+"/"+project.KustomizationFile) {
			continue
		}
		names, err := x.tree.Walk(dir, nil)
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
	}
	return nil
}

// removeConditions removes the file with which kubebuilder completes the controllers of images, with the last of them.
func (x *deleter) removeConditions(d Deletion) error {
	images := func(all []Data) []Data {
		return slices.DeleteFunc(slices.Clone(all), func(data Data) bool { return data.Image.Ref == "" })
	}
	for _, data := range images(d.Removed) {
		name := path.Join(path.Dir(outputPath(controllerPath, data)), "conditions.go")
		content, ok, err := x.read(name)
		if err != nil {
			return err
		}
		others := slices.ContainsFunc(images(d.Kept), func(other Data) bool { return path.Dir(outputPath(controllerPath, other)) == path.Dir(name) })
		if ok && !others && x.isPeers(name, content) {
			x.deleted = append(x.deleted, name)
		}
	}
	return nil
}
