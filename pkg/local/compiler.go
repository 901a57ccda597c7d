package local

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Compile runs "go build" in a project. An error of the compiler is a *gotool.Error; see CompilerErrors.
func Compile(ctx context.Context, tool gotool.Go, root string, variables, flags []string, pkg, what string) error {
	mod, _ := os.ReadFile(filepath.Join(root, "go.mod")) // without it, go reports what is wrong
	return tool.Build(ctx, gotool.Command{Dir: root, Mod: mod, Variables: variables, Args: flags}, pkg, what)
}

// compilerError matches an error of the compiler: file, line, column if it has one, and problem.
var compilerError = lazyregexp.New(`^(.+?):(\d+):(?:(\d+):)? (.*)$`)

// CompilerErrors returns what "go build" printed: findings at the positions of errors, which wrap cause. Other lines belong to the error
// above, or to the first one below.
func CompilerErrors(output string, cause error) (findings diag.Findings) {
	above := "" // lines above the first error
	for line := range strings.SplitSeq(output, "\n") {
		line = strings.TrimSuffix(line, "\r")
		m := compilerError.FindStringSubmatch(line)
		switch {
		case m != nil && !filepath.IsAbs(m[1]):
			f := diag.Finding{Position: diag.Position{File: filepath.ToSlash(filepath.Clean(m[1]))}, Problem: m[4], Listed: above + line, Err: cause}
			f.Line, _ = strconv.Atoi(m[2])
			f.Column, _ = strconv.Atoi(m[3])
			findings, above = append(findings, f), ""
		case strings.HasPrefix(line, "#") || len(findings) == 0:
			above += line + "\n"
		default:
			last := &findings[len(findings)-1]
			last.Listed += "\n" + line
			last.Problem += "\n" + line
		}
	}
	if above = strings.TrimSuffix(above, "\n"); above != "" {
		findings = append(findings, diag.Finding{Problem: above, Err: cause})
	}
	return findings
}
