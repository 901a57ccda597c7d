package merge

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// fault returns an error of a merged text that neither ours nor theirs has, or "". It checks names and flags, but not
// types, because the imported packages are not available.
func (g *goMerge) fault(text []byte) string {
	s, err := parseSource(text)
	if err != nil {
		return "it would not parse with what the current scaffold has: " + err.Error()
	}
	faults := s.faults()
	if len(faults) == 0 {
		return ""
	}
	old := append(g.ours.faults(), g.theirs.faults()...)
	for _, fault := range faults {
		if !slices.Contains(old, fault) {
			return "it would not work with what the current scaffold has: " + fault
		}
	}
	return ""
}

// faults returns the messages of the errors in a file that can be found without its imports.
func (s *goSource) faults() []string {
	_, found := gosource.CheckWithoutImports(s.AST.Name.Name, []*gosource.File{s.File}, nil)
	var messages []string
	for _, e := range found {
		messages = append(messages, e.Msg)
	}
	return append(messages, s.repeatedFlags()...)
}

// repeatedFlags returns a message for each flag that is declared twice, which would cause a panic.
func (s *goSource) repeatedFlags() []string {
	var messages, suffixes []string
	count := map[string]int{}
	ast.Inspect(s.AST, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name := flagName(call); name != "" {
			count[name]++
		}
		for _, arg := range call.Args {
			// Flags of a group of settings: prefix+"-cert-path".
			if sum, ok := arg.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
				if lit, ok := sum.Y.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, `"-`) {
					if suffix, err := strconv.Unquote(lit.Value); err == nil {
						suffixes = append(suffixes, suffix)
					}
				}
			}
		}
		return true
	})
	for _, name := range sortedKeys(count) {
		repeated := count[name] > 1
		for _, suffix := range suffixes {
			repeated = repeated || strings.HasSuffix(name, suffix)
		}
		if repeated {
			messages = append(messages, "flag "+name+" is declared twice")
		}
	}
	return messages
}
