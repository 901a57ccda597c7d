package base

import (
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// yamlProblems places the errors of the YAML library.
func yamlProblems(name string, err error) manifest.Problems {
	if _, ok := errors.AsType[*safeyaml.Error](err); ok {
		return manifest.Problems{manifest.Unbounded(name, err)}
	}
	messages := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if typed, ok := errors.AsType[*yaml.TypeError](err); ok {
		messages = typed.Errors
	}
	var problems manifest.Problems
	for _, message := range messages {
		problem := manifest.Problem{Position: manifest.Position{File: name}, Problem: message}
		if line, text, ok := lineOf(message); ok {
			problem.Line, problem.Problem = line, text
			if byParser(text) {
				problem.Line++ // the library counts these from 0
			}
		}
		problem.Problem = strings.TrimSuffix(problem.Problem, " in type base.metadataFile")
		problems = append(problems, problem)
	}
	return problems
}

// lineOf finds the line in a message of the YAML library, such as "line 3: did not find expected key".
func lineOf(message string) (line int, text string, ok bool) {
	_, rest, ok := strings.Cut(message, "line ")
	if !ok {
		return 0, "", false
	}
	number, text, ok := strings.Cut(rest, ": ")
	if !ok {
		return 0, "", false
	}
	line, err := strconv.Atoi(number)
	return line, text, err == nil
}

// byParser tells the messages of the YAML library's parser from those of its scanner.
func byParser(text string) bool {
	missing, ok := strings.CutPrefix(text, "did not find expected ")
	if !ok {
		return false
	}
	for _, what := range []string{"node content", "',' or ']'", "',' or '}'", "key", "'-' indicator", "<"} {
		if strings.HasPrefix(missing, what) {
			return true
		}
	}
	return false
}
