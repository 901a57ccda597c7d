package gokinds

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// checkRuntimeObject returns a finding if the type of a new API has no DeepCopyObject method after code generation, without which the project
// doesn't compile.
func checkRuntimeObject(tree *worktree.Tree, config *project.Config, r project.Resource) error {
	dir, ok := strings.CutPrefix(r.Path, config.Repo()+"/")
	if !ok {
		return nil
	}
	names, err := tree.Walk(dir, func(string) bool { return true })
	if err != nil {
		return err
	}
	method := codegen.DeepCopyObject(r.Kind)
	declaration := regexp.MustCompile(`(?m)^type ` + regexp.QuoteMeta(r.Kind) + ` struct\b`)
	at := diag.Position{File: dir}
	for _, name := range names {
		if path.Ext(name) != ".go" {
			continue
		}
		data, err := tree.ReadFile(name)
		if err != nil {
			return err
		}
		if method.Match(data) {
			return nil
		}
		if match := declaration.FindIndex(data); match != nil {
			at = diag.Position{File: name, Line: 1 + strings.Count(string(data[:match[0]]), "\n")}
		}
	}
	return diag.Findings{{
		Position: at, Rule: "not-runtime-object",
		Problem: fmt.Sprintf("%s would not be a runtime.Object: no call of controller-gen that is followed generates its method DeepCopyObject", r.Kind),
		Fix:     "call the generator object for this directory in the target generate of the Makefile, or in generate.calls of .operon/config.yaml; with --make=false, the API is created without generated code",
	}}
}
