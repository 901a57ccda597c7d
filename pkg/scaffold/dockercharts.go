package scaffold

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const dockerignore = ".dockerignore"

// The instructions and patterns that add charts to the image of a Go project.
var (
	chartCopies   = []string{"COPY " + watches.FileName + " ./", "COPY " + project.ChartsDir + "/ " + project.ChartsDir + "/"}
	chartPatterns = []string{"!" + watches.FileName, "!" + project.ChartsDir + "/**"}
)

// AddChartsToImage adds watches.yaml and the charts to the working directory of the final stage in the Dockerfile of a Go project, and to
// the files that its .dockerignore permits. Lines that exist are left as they are, so it can be called for each kind. Note states what
// users must add to a Dockerfile whose final stage is not recognized; otherwise it is empty. Files that do not exist are not created.
func AddChartsToImage(tree *worktree.Tree) (note string) {
	rewriteFile(tree, dockerignore, permitCharts)
	rewriteFile(tree, dockerfile, func(content []byte) []byte {
		changed, ok := copyCharts(string(content))
		if !ok {
			note = fmt.Sprintf("%s has no final stage that is recognized; add %q and %q to it, so that the image contains the charts", dockerfile, chartCopies[0], chartCopies[1])
		}
		return []byte(changed)
	})
	return note
}

// RemoveChartsFromImage removes the lines of AddChartsToImage. Call it after the last kind with a chart was removed.
func RemoveChartsFromImage(tree *worktree.Tree) {
	for name, added := range map[string][]string{dockerfile: chartCopies, dockerignore: chartPatterns} {
		rewriteFile(tree, name, func(content []byte) []byte {
			lines := slices.DeleteFunc(strings.SplitAfter(string(content), "\n"), func(line string) bool {
				return slices.Contains(added, strings.TrimSpace(line))
			})
			return []byte(strings.Join(lines, ""))
		})
	}
}

// permitCharts adds patterns to a .dockerignore that excludes all files it does not name.
func permitCharts(content []byte) []byte {
	lines := strings.Split(string(content), "\n")
	has := func(patterns ...string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			return slices.Contains(patterns, strings.TrimSuffix(strings.TrimSpace(line), "/"))
		})
	}
	if !has("*", "**", "**/*") {
		return content
	}
	end := "\n"
	if bytes.Contains(content, []byte("\r\n")) {
		end = "\r\n"
	}
	for _, pattern := range chartPatterns {
		if has(pattern, strings.TrimSuffix(pattern, "/**")) {
			continue
		}
		if !bytes.HasSuffix(content, []byte("\n")) {
			content = append(content, end...)
		}
		content = append(content, pattern+end...)
	}
	return content
}

// copyCharts adds chartCopies to the last stage of a Dockerfile, after the last instruction that copies files or sets the working
// directory. It reports false if there is no such stage.
func copyCharts(text string) (changed string, ok bool) {
	lines := strings.SplitAfter(text, "\n")
	at := -1
	missing := slices.Clone(chartCopies)
	for start := 0; start < len(lines); {
		words, next, plain := dockerInstruction(lines, start)
		start = next
		switch {
		case len(words) == 0:
			continue
		case !plain:
			return text, false // the text of a here-document looks like instructions
		}
		switch strings.ToUpper(words[0]) {
		case "FROM":
			at, missing = next, slices.Clone(chartCopies)
		case "WORKDIR":
			at = next
		case "COPY", "ADD":
			at = next
			missing = slices.DeleteFunc(missing, func(copied string) bool { return copiesFile(words, strings.Fields(copied)[1]) })
		}
	}
	if at < 0 {
		return text, false
	}
	end := "\n"
	if at > 0 && lineEnd(lines[at-1]) != "" {
		end = lineEnd(lines[at-1])
	} else {
		lines[at-1] += end
	}
	for i := range missing {
		missing[i] += end
	}
	return strings.Join(slices.Insert(lines, at, missing...), ""), true
}

// dockerInstruction returns the words of the instruction that starts at a line, none for an empty line or a comment, and the line after it.
// Plain is false if it has a here-document.
func dockerInstruction(lines []string, start int) (words []string, next int, plain bool) {
	text := strings.TrimSpace(lines[start])
	next = start + 1
	if strings.HasPrefix(text, "#") {
		return nil, next, true
	}
	for strings.HasSuffix(text, `\`) && next < len(lines) {
		line := strings.TrimSpace(lines[next])
		next++
		if line != "" && !strings.HasPrefix(line, "#") {
			text = strings.TrimSuffix(text, `\`) + " " + line
		}
	}
	return strings.Fields(text), next, !strings.Contains(text, "<<")
}

// copiesFile reports whether an instruction copies a file of the project, or one of its directories.
func copiesFile(words []string, name string) bool {
	name = path.Clean(name)
	for _, word := range words[1:max(1, len(words)-1)] {
		if strings.HasPrefix(word, "--from=") {
			return false
		}
		word = path.Clean(strings.Trim(word, `[]",`))
		if word == "." || word == name {
			return true
		}
	}
	return false
}
