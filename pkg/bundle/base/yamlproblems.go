package base

import (
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// yamlProblems converts errors of the YAML library to problems with positions.
func yamlProblems(name string, err error) diag.Findings {
	if _, ok := errors.AsType[*safeyaml.Error](err); ok {
		return diag.Findings{manifest.Unbounded(name, err)}
	}
	messages := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if typed, ok := errors.AsType[*yaml.TypeError](err); ok {
		messages = typed.Errors
	}
	var problems diag.Findings
	for _, message := range messages {
		problem := diag.Finding{Position: diag.Position{File: name}, Problem: message}
		if line, text, ok := cutLine(message); ok {
			problem.Line, problem.Problem = line, text
			if isParserMessage(text) {
				problem.Line++ // the parser counts from 0
			}
		}
		problem.Problem = strings.TrimSuffix(problem.Problem, " in type base.metadataFile")
		problems = append(problems, problem)
	}
	return problems
}

// cutLine splits a message of the YAML library, such as "line 3: did not find expected key", at its line number.
func cutLine(message string) (line int, text string, ok bool) {
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

// isParserMessage reports whether a message is from the YAML library's parser, not from its scanner.
func isParserMessage(text string) bool {
	missingType, ok := strings.CutPrefix(text, "did not find expected ")
	if !ok {
		return false
	}
	for _, what := range []string{"node content", "',' or ']'", "',' or '}'", "key", "'-' indicator", "<"} {
		if strings.HasPrefix(missingType, what) {
			return true
		}
	}
	return false
}
