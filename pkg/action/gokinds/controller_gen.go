package gokinds

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ControllerGen runs controller-gen with some arguments in the root directory of the project, with the cache of generate, so that
// nothing is loaded if nothing changed. done is false, and nothing is changed, for calls that controller-gen itself must run: calls that
// print, and calls with problems or warnings, for which it has its own messages.
func ControllerGen(ctx context.Context, p *action.Project, args []string) (done bool, err error) {
	options, call := codegenOptions(p), codegen.Call{Args: args}
	generators, err := call.Generators()
	if err != nil || generators == 0 || options.CacheDir == "" || slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "output") && (strings.Contains(arg, "stdout") || strings.Contains(arg, "none"))
	}) {
		return false, nil
	}
	// The other calls of the project have the other generators.
	options.Root, options.Calls, options.Generators, options.Unfollowed = p.Root, []codegen.Call{call}, codegen.All, codegen.All
	result, err := codegen.Generate(ctx, options)
	if err != nil || len(result.Warnings) > 0 {
		return false, ctx.Err()
	}
	_, err = p.Update(ctx, func(tree *worktree.Tree) error {
		for name, content := range result.Files {
			tree.WriteFile(name, content, 0o644)
		}
		return nil
	})
	return true, err
}

// codegenOptions returns the options of code generation that don't depend on the calls.
func codegenOptions(p *action.Project) codegen.Options {
	options := codegen.Options{Year: p.Year, Build: p.Build, Env: p.Environ, Offline: true}
	if p.Build != "" && p.CacheDir != "" {
		options.CacheDir = filepath.Join(p.CacheDir, "codegen")
	}
	return options
}
