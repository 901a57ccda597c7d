package scaffold

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Parts of a sample.
var (
	sampleVersion = lazyregexp.New(`(?m)^apiVersion:[^\n]*`)
	sampleName    = lazyregexp.New(`(?m)^metadata:\n(?:(?: [^\n]*)?\n)*?(  name:[^\n]*)`)
	sampleSpec    = lazyregexp.New(`(?ms)^spec:\n.*`)
)

// emptySpec is the end of a sample whose fields only the user knows.
const emptySpec = "spec: {} # TODO: set the fields of the spec.\n"

// copySample replaces the sample in files by a copy of the source version's, with the version and the name of the new one. If
// the source has no sample with one object, the new one is empty, since the types don't have the scaffold's fields.
func copySample(tree *worktree.Tree, files map[string][]byte, data Data) error {
	name := path.Join(project.SamplesDir, data.Resource.SampleFile())
	scaffold := files[name]
	if scaffold == nil {
		return nil
	}
	sources, err := samplesOf(tree, data.Resource.From.of(data).Resource)
	if err != nil {
		return err
	}
	files[name] = sampleSpec.ReplaceAll(scaffold, []byte(emptySpec))
	for _, content := range sources {
		versions, names := sampleVersion.FindAllSubmatchIndex(content, -1), sampleName.FindAllSubmatchIndex(content, -1)
		if len(versions) == 1 && len(names) == 1 {
			files[name] = textdiff.Apply(content, []textdiff.Edit{
				{From: versions[0][0], To: versions[0][1], Text: sampleVersion.FindString(string(scaffold))},
				{From: names[0][2], To: names[0][3], Text: string(sampleName.FindSubmatch(scaffold)[1])},
			})
			break
		}
	}
	return nil
}

// samplesOf returns the files with samples of a kind: the one with the scaffold's name first.
func samplesOf(tree *worktree.Tree, r Resource) (samples [][]byte, err error) {
	files, err := readSamples(tree)
	for _, file := range files {
		switch {
		case file.name == path.Join(project.SamplesDir, r.SampleFile()):
			samples = slices.Insert(samples, 0, file.text)
		case file.hasKind(r) && hasLine(file.text, "apiVersion: "+r.QualifiedGroup+"/"+r.Version):
			samples = append(samples, file.text)
		}
	}
	return samples, err
}

// A sampleFile is a file in config/samples, with LF line endings.
type sampleFile struct {
	name string
	text []byte
}

// readSamples reads the files in config/samples, sorted by name.
func readSamples(tree *worktree.Tree) (files []sampleFile, err error) {
	names, err := tree.Walk(project.SamplesDir, func(string) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", project.SamplesDir, err)
	}
	for _, name := range names {
		content, err := tree.ReadOptional(name)
		if err != nil {
			return nil, err
		}
		text, _ := textdiff.ToLF(content)
		files = append(files, sampleFile{name, text})
	}
	return files, nil
}

// hasKind reports whether the file has an object of a kind, of any version.
func (f sampleFile) hasKind(r Resource) bool {
	return bytes.Contains(f.text, []byte("apiVersion: "+r.QualifiedGroup+"/")) && hasLine(f.text, "kind: "+r.Kind)
}

// hasName reports whether the file has an object with a name.
func (f sampleFile) hasName(name string) bool { return hasLine(f.text, "  name: "+name) }

// hasLine reports whether a text with LF line endings has a line.
func hasLine(text []byte, line string) bool {
	return bytes.HasPrefix(text, []byte(line+"\n")) || bytes.Contains(text, []byte("\n"+line+"\n"))
}
