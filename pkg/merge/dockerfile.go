package merge

import (
	"go/version"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// parseDockerfile splits a Dockerfile into its stages, and these into instructions. Instructions before the first stage
// are units of the file.
func parseDockerfile(text []byte) (*Node, error) {
	lines := splitLines(text)
	root := &Node{Container: true}
	stage := root
	start := 0
	for i := 0; i < len(lines); {
		if isDockerComment(lines[i]) {
			i++
			continue
		}
		end := instructionEnd(lines, i)
		words := instructionWords(lines[i:end])
		n := &Node{Lead: lines[start:i:i], Head: lines[i:end:end]}
		if strings.EqualFold(words[0], "FROM") {
			stage = &Node{Key: stageKey(words), Container: true}
			root.Nodes = append(root.Nodes, stage)
		}
		n.Key = instructionKey(words)
		stage.Nodes = append(stage.Nodes, n)
		start, i = end, end
	}
	stage.Tail = lines[start:]
	number(root.Nodes)
	for _, n := range root.Nodes {
		number(n.Nodes)
	}
	return root, nil
}

func isDockerComment(line string) bool {
	return isBlank(line) || strings.HasPrefix(strings.TrimSpace(line), "#")
}

var hereDocument = lazyregexp.New(`<<-?["']?([A-Za-z_][A-Za-z0-9_]*)["']?`)

// instructionEnd returns the line after the instruction that begins at the line i, with lines that continue it and here
// documents.
func instructionEnd(lines []string, i int) int {
	first := i
	for ; i < len(lines); i++ {
		text := strings.TrimRight(lines[i], " \t\r\n")
		if i > first && isDockerComment(lines[i]) {
			continue // comments and blank lines do not end an instruction that continues
		}
		if !strings.HasSuffix(text, `\`) {
			i++
			break
		}
	}
	for _, m := range hereDocument.FindAllStringSubmatch(strings.Join(lines[first:i], ""), -1) {
		for i < len(lines) && strings.TrimSpace(lines[i]) != m[1] {
			i++
		}
		i = min(i+1, len(lines))
	}
	return i
}

// instructionWords returns the words of an instruction without comments, at least one.
func instructionWords(lines []string) []string {
	var words []string
	for _, line := range lines {
		if !isDockerComment(line) {
			words = append(words, strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), `\`))...)
		}
	}
	if len(words) == 0 {
		return []string{""}
	}
	return words
}

func stageKey(words []string) string {
	for i := 1; i+1 < len(words); i++ {
		if strings.EqualFold(words[i], "AS") {
			return "stage " + words[i+1]
		}
	}
	return "stage"
}

// instructionKey returns the identifier of an instruction: variables by name, copied files by destination, commands by
// their first two words.
func instructionKey(words []string) string {
	name := strings.ToUpper(words[0])
	var args []string
	for _, word := range words[1:] {
		if len(args) > 0 || !strings.HasPrefix(word, "--") {
			args = append(args, word)
		}
	}
	if len(args) == 0 {
		return name
	}
	switch name {
	case "ARG", "ENV", "LABEL":
		key, _, _ := strings.Cut(args[0], "=")
		return name + " " + key
	case "COPY", "ADD":
		return name + " " + args[len(args)-1]
	case "RUN":
		return name + commandKey(args)
	case "EXPOSE", "VOLUME", "ONBUILD":
		return name + " " + strings.Join(args, " ")
	}
	return name
}

var assignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

// commandKey returns the first two words of a command after its variables, each after a space.
func commandKey(args []string) string {
	key, n := "", 0
	for _, word := range args {
		if n == 0 && assignment.MatchString(word) {
			continue
		}
		key += " " + word
		if n++; n == 2 {
			break
		}
	}
	return key
}

// golangImage matches a Go image up to its release.
var golangImage = lazyregexp.New(`\bgolang:([0-9]+\.[0-9]+)(?:\.[0-9]+|rc[0-9]+)?`)

// bumpGoImages updates the user's Go images that are older than the images of theirs in the same stage. Images with a
// digest are kept.
func bumpGoImages(ours, theirs *Node, base Base) {
	for _, stage := range ours.Nodes {
		path := []string{stage.Key, "FROM"}
		from, other := find(ours, path), find(theirs, path)
		if from == nil || other == nil || base.Has(Fact{path, HeadLines, significant(from.Head)}) || strings.Contains(from.Head[0], "@") {
			continue
		}
		needs, has := goImage(theirs, other), golangImage.FindStringSubmatch(from.Head[0])
		if hasOlderGo(has, needs) {
			from.Head = slices.Clone(from.Head)
			from.Head[0] = strings.Replace(from.Head[0], has[0], needs[0], 1)
		}
	}
}

// instructionChoice returns a function that reports whether an instruction of ours can be kept independently of theirs. A Go image
// must not be older than theirs.
func instructionChoice(oursRoot, theirsRoot *Node) func(ours, theirs *Node) bool {
	return func(ours, theirs *Node) bool {
		return !hasOlderGo(goImage(oursRoot, ours), goImage(theirsRoot, theirs))
	}
}

// goImage returns the Go image in an instruction of a Dockerfile, as golangImage matches it, or nil. Arguments before the first stage
// have their defaults.
func goImage(root, instruction *Node) []string {
	text := instruction.Head[0]
	for _, n := range root.Nodes {
		if words := instructionWords(n.Head); len(n.Head) > 0 && len(words) == 2 && strings.EqualFold(words[0], "ARG") {
			name, value, _ := strings.Cut(words[1], "=")
			text = strings.NewReplacer("${"+name+"}", value, "$"+name+" ", value+" ").Replace(text)
		}
	}
	return golangImage.FindStringSubmatch(text)
}

// hasOlderGo reports whether a Go image, as golangImage matches it, is of an older release than another, ignoring patch
// releases. It is false if one of them is not a Go image.
func hasOlderGo(image, than []string) bool {
	return image != nil && than != nil && version.Compare("go"+image[1], "go"+than[1]) < 0
}
