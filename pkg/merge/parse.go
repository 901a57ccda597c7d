package merge

import (
	"bytes"
	"path"
	"strings"
)

// Parse splits a text into units according to its file name. Line ends are LF, and the last line of the tree has one.
func Parse(name string, text []byte) (*Node, error) {
	text = endLine(text)
	switch formatOf(name) {
	case formatGo:
		return parseGo(text)
	case formatYAML:
		return parseYAML(name, text)
	case formatMakefile:
		return parseMakefile(text)
	case formatDockerfile:
		return parseDockerfile(text)
	case formatLines:
		return parseLines(text), nil
	}
	return ParseOpaque(text), nil
}

// FileFacts returns the facts of a file. For Go files, see goFacts.
func FileFacts(name string, text []byte) ([]Fact, error) {
	if formatOf(name) == formatGo {
		return goFacts(endLine(text))
	}
	root, err := Parse(name, text)
	if err != nil {
		return nil, err
	}
	if formatOf(name) == formatMakefile {
		return makefileFacts(Facts(root)), nil
	}
	return Facts(root), nil
}

// MergeFile merges two versions of a file against the base; see mergeNodes and mergeGo.
func MergeFile(name string, ours, theirs []byte, base Base, o Options) ([]byte, *Result, error) {
	if formatOf(name) == formatGo {
		return mergeGo(endLine(ours), endLine(theirs), base, o)
	}
	oursRoot, err := Parse(name, ours)
	if err != nil {
		return nil, nil, err
	}
	theirsRoot, err := Parse(name, theirs)
	if err != nil {
		return nil, nil, err
	}
	var r *Result
	switch formatOf(name) {
	case formatMakefile:
		r = mergeMakefile(oursRoot, theirsRoot, base, o)
	case formatDockerfile:
		bumpGoImages(oursRoot, theirsRoot, base)
		o.IsChoice = instructionChoice(oursRoot, theirsRoot)
		o.MayAdd = withoutCopies(oursRoot, theirsRoot, base, o.MayAdd)
		r = mergeNodes(oursRoot, theirsRoot, base, o)
	case formatYAML:
		alignRules(oursRoot, theirsRoot)
		o.IsChoice = isFieldChoice
		r = mergeNodes(oursRoot, theirsRoot, base, o)
		finishYAML(r.Root, isKustomization(name))
	default:
		r = mergeNodes(oursRoot, theirsRoot, base, o)
	}
	return r.Root.Text(), r, nil
}

type fileFormat int

const (
	formatOpaque fileFormat = iota
	formatGo
	formatYAML
	formatMakefile
	formatDockerfile
	formatLines
)

func formatOf(name string) fileFormat {
	base := path.Base(name)
	switch {
	case strings.HasSuffix(base, ".go"):
		return formatGo
	case strings.HasSuffix(base, ".yaml"), strings.HasSuffix(base, ".yml"), base == "PROJECT":
		return formatYAML
	case base == "Makefile", base == "makefile", base == "GNUmakefile", strings.HasSuffix(base, ".mk"):
		return formatMakefile
	case base == "Dockerfile", strings.HasSuffix(base, ".Dockerfile"), strings.HasPrefix(base, "Dockerfile."):
		return formatDockerfile
	case strings.HasPrefix(base, ".") && strings.HasSuffix(base, "ignore"), base == ".gitattributes":
		return formatLines
	}
	return formatOpaque
}

// endLine adds a missing line end to the last line of a text.
func endLine(text []byte) []byte {
	if len(text) == 0 || bytes.HasSuffix(text, []byte("\n")) {
		return text
	}
	return append(bytes.Clone(text), '\n')
}
