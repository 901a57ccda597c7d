package upgrade

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const (
	dockerfile = "Dockerfile"
	// requirementsFile lists the Ansible collections in the image.
	requirementsFile = "requirements.yml"
	// runtimeStage is the stage of a Dockerfile from which the runtime is copied into another base image.
	runtimeStage = "operon"
)

// anyStage matches the instructions of a Dockerfile that begin a stage, with the image.
var anyStage = lazyregexp.New(`(?m)^FROM\s+(?:--platform=\S+\s+)?(\S+).*$`)

// upgradeBaseImage replaces operator-sdk's runtime in the Dockerfile by the current base image, before the file is merged: many
// projects have the runtime of another release than their scaffold. Where steps of the user may need packages of the base
// image, only the runtime in it is replaced. It returns a note about a base image that stays, or "".
func (l runtimeImage) upgradeBaseImage(tree *worktree.Tree, current map[string][]byte) (note string, err error) {
	text, err := tree.ReadOptional(dockerfile)
	if err != nil || text == nil {
		return "", err
	}
	stages := anyStage.FindAllSubmatchIndex(text, -1)
	if len(stages) == 0 {
		return "", nil
	}
	last := stages[len(stages)-1]
	image, steps := string(text[last[2]:last[3]]), text[last[1]:]
	argument := fmt.Sprintf("ARG %s=%s\n", l.Argument, l.image)
	switch {
	case bytes.Contains(text[:last[0]], []byte("AS "+runtimeStage+"\n")) && bytes.Contains(text, []byte("ARG "+l.Argument+"=")):
		// The runtime was replaced by an earlier upgrade.
		repository, _, _ := strings.Cut(l.image, ":")
		older := regexp.MustCompile(`(?m)^ARG ` + l.Argument + `=` + regexp.QuoteMeta(repository) + `:\S+\n`)
		text = older.ReplaceAll(text, []byte(argument))
	case !l.isSDKImage(image):
		if strings.Contains(image, l.Argument) {
			return "", nil
		}
		return fmt.Sprintf("the base image is still %s; the manifests have flags of operator-sdk 1.38 and later, or of Operon", image), nil
	case l.Packages && hasOwnSteps(string(steps)):
		note = fmt.Sprintf("the base image is still %s, for the RUN instructions after it, with the runtime of Operon; %s is kept, too", image, requirementsFile)
		// Arguments in FROM must precede the first stage.
		text = bytes.Join([][]byte{
			text[:commentsBefore(text, stages[0][0])], []byte(argument), text[commentsBefore(text, stages[0][0]):commentsBefore(text, last[0])],
			fmt.Appendf(nil, "FROM ${%s} AS %s\n\n", l.Argument, runtimeStage), text[commentsBefore(text, last[0]):last[1]],
			fmt.Appendf(nil, "\nCOPY --from=%s %s %s", runtimeStage, l.Program, l.Program), steps,
		}, nil)
	default:
		text = bytes.Join([][]byte{
			text[:stages[0][0]], []byte(argument), text[stages[0][0]:last[2]], fmt.Appendf(nil, "${%s}", l.Argument), text[last[3]:],
		}, nil)
		tree.WriteFile(dockerfile, text, worktree.FileMode)
		return "", nil
	}
	// Steps and collections are those that fit the base image.
	tree.WriteFile(dockerfile, text, worktree.FileMode)
	current[dockerfile] = text
	requirements, err := tree.ReadOptional(requirementsFile)
	if requirements != nil {
		current[requirementsFile] = requirements
	}
	return note, err
}

// mergeDockerfile calls merge, which merges the Dockerfile with the current one. The merge compares the line of the last stage as a
// whole, so that it gets the line without a platform and a name. The user's line is restored afterwards.
func (l runtimeImage) mergeDockerfile(tree *worktree.Tree, merge func() error) error {
	text, err := tree.ReadOptional(dockerfile)
	if err != nil {
		return err
	}
	plain := fmt.Appendf(nil, "FROM ${%s}", l.Argument)
	line := plain
	if stages := anyStage.FindAllSubmatchIndex(text, -1); len(stages) > 0 {
		last := stages[len(stages)-1]
		if stage := text[last[0]:last[1]]; bytes.Contains(stage, plain[len("FROM "):]) && !bytes.Equal(stage, plain) {
			line = stage
			tree.WriteFile(dockerfile, slices.Concat(text[:last[0]], plain, text[last[1]:]), worktree.FileMode)
		}
	}
	if err := merge(); err != nil || bytes.Equal(line, plain) {
		return err
	}
	text, err = tree.ReadFile(dockerfile)
	if err != nil {
		return err
	}
	if at := bytes.LastIndex(text, append(plain, '\n')); at >= 0 {
		text = slices.Concat(text[:at], line, text[at+len(plain):])
	}
	tree.WriteFile(dockerfile, text, worktree.FileMode)
	return nil
}

// isSDKImage reports whether an image is operator-sdk's runtime, of any version.
func (l runtimeImage) isSDKImage(image string) bool {
	rest, ok := strings.CutPrefix(image, l.SDKImage)
	return ok && (rest == "" || rest[0] == ':' || rest[0] == '@')
}

// commentsBefore returns the position of the comments directly before a position.
func commentsBefore(text []byte, at int) int {
	for at > 0 {
		line := bytes.LastIndexByte(text[:at-1], '\n') + 1
		if text[line] != '#' {
			break
		}
		at = line
	}
	return at
}

var (
	runStep = lazyregexp.New(`(?m)^\s*RUN\s(?:.*\\\n)*.*$`)
	// scaffoldedStep matches the step of operator-sdk's scaffold that installs collections, with single spaces.
	scaffoldedStep = lazyregexp.New(`^RUN ansible-galaxy collection install (?:--force )?-r \S+( && chmod -R \S+ \S+)?$`)
)

// hasOwnSteps reports whether a stage has RUN instructions that operator-sdk does not scaffold.
func hasOwnSteps(stage string) bool {
	for _, step := range runStep.FindAllString(stage, -1) {
		if !scaffoldedStep.MatchString(strings.Join(strings.Fields(strings.ReplaceAll(step, "\\\n", " ")), " ")) {
			return true
		}
	}
	return false
}
