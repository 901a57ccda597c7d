package calls

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// configFile contains a project's settings for Operon:
//
//	generate:
//	  calls:
//	  - args: rbac:roleName=manager-role crd webhook paths=./... output:crd:artifacts:config=config/crd/bases
//	  - args: object:headerFile=../hack/boilerplate.go.txt,year=2026 paths=./...
//	    dir: api
//
// Each call has the arguments of controller-gen, quoted as in a shell, and the directory that they are relative to (default:
// the directory of the project). An empty list means the calls of the scaffold; the Makefile is not read then.
const configFile = ".operon/config.yaml"

// readConfig returns the calls of configFile, or nil if it contains none. The error is a diag.Finding if the file is invalid.
func readConfig(files Files) (*Found, error) {
	data, err := files.ReadFile(configFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading %s: %w", configFile, err)
	}
	var document yaml.Node
	if err := safeyaml.Unmarshal(data, &document); err != nil {
		return nil, diag.Finding{Position: diag.Position{File: configFile}, Problem: err.Error(), Err: err}
	}
	if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
		return nil, nil
	}
	root, err := mapping(document.Content[0], "generate")
	if err != nil || root["generate"] == nil {
		return nil, err
	}
	generate, err := mapping(root["generate"], "calls")
	if err != nil || generate["calls"] == nil {
		return nil, err
	}
	list := generate["calls"]
	if list.Kind != yaml.SequenceNode {
		return nil, invalid(list, "calls must be a list")
	}
	found := &Found{Foreign: true}
	for _, item := range list.Content {
		call, err := readCall(files, item)
		if err != nil {
			return nil, err
		}
		found.Calls = append(found.Calls, call)
	}
	return found, nil
}

// readCall reads one item of the list of calls.
func readCall(files Files, item *yaml.Node) (codegen.Call, error) {
	fields, err := mapping(item, "args", "dir")
	if err != nil {
		return codegen.Call{}, err
	}
	call := codegen.Call{Source: position(item)}
	for name, value := range fields {
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
			return call, invalid(value, "%s must be a string", name)
		}
	}
	if fields["dir"] != nil {
		if call.Dir = fields["dir"].Value; !fs.ValidPath(call.Dir) {
			return call, invalid(fields["dir"], "dir %q: must be a slash-separated path in the project", call.Dir)
		}
		if call.Dir == "." {
			call.Dir = ""
		}
	}
	if fields["args"] == nil {
		return call, invalid(item, "args is required: the arguments of controller-gen")
	}
	s := &shell{finder: newFinder(files), variables: map[string]string{}}
	for _, word := range tokenize(fields["args"].Value) {
		if word.operator {
			return call, invalid(fields["args"], "args: %q must be quoted", word.text)
		}
		call.Args = append(call.Args, s.fields(word.text)...)
	}
	generators, err := call.Generators()
	if err != nil {
		return call, invalid(fields["args"], "%s", problem(err))
	}
	if generators == 0 {
		return call, invalid(fields["args"], "args: a generator is required: object, crd, rbac, webhook or schemapatch")
	}
	return call, nil
}

// problem returns the message of an error without the source of the call.
func problem(err error) string {
	if findings, ok := errors.AsType[diag.Findings](err); ok && len(findings) == 1 {
		return findings[0].Problem
	}
	return err.Error()
}

// mapping returns the values of a mapping with allowed keys.
func mapping(node *yaml.Node, allowed ...string) (map[string]*yaml.Node, error) {
	node = safeyaml.Resolve(node)
	if node.Kind != yaml.MappingNode {
		return nil, invalid(node, "must be a mapping with the keys %q", allowed)
	}
	values := map[string]*yaml.Node{}
	for key, value := range safeyaml.Fields(node) {
		if !slices.Contains(allowed, key.Value) {
			if near, ok := diag.Nearest(key.Value, allowed); ok {
				return nil, invalid(key, "unknown key %q; did you mean %q?", key.Value, near)
			}
			return nil, invalid(key, "unknown key %q; known keys: %q", key.Value, allowed)
		}
		if values[key.Value] != nil {
			return nil, invalid(key, "duplicate key %q", key.Value)
		}
		values[key.Value] = value
	}
	return values, nil
}

// position returns the position of a node in configFile.
func position(node *yaml.Node) diag.Position {
	return diag.Position{File: configFile, Line: node.Line}
}

func invalid(node *yaml.Node, format string, args ...any) error {
	return diag.Finding{Position: position(node), Problem: fmt.Sprintf(format, args...)}
}
