package merge

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// fault returns what is wrong with a merged text that is wrong neither with ours nor with theirs, or "". It checks names
// and flags, but no types, as it has the imported packages not at hand.
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

func (s *goSource) faults() []string { return append(typeErrors(s.text), s.repeatedFlags()...) }

// noImporter finds no package, so that all that is used of imported packages is taken to be right.
type noImporter struct{}

var errNoImport = errors.New("not imported")

func (noImporter) Import(string) (*types.Package, error) { return nil, errNoImport }

// typeErrors returns the messages of the errors in a file that can be found without its imports.
func typeErrors(text []byte) []string {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	var messages []string
	config := types.Config{Importer: noImporter{}, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !strings.Contains(e.Msg, errNoImport.Error()) {
			messages = append(messages, e.Msg)
		}
	}}
	_, _ = config.Check(file.Name.Name, fset, []*ast.File{file}, nil) // config.Error has the errors
	return messages
}

// repeatedFlags returns a message for each flag that is declared twice, with which the program would panic.
func (s *goSource) repeatedFlags() []string {
	var messages, suffixes []string
	count := map[string]int{}
	ast.Inspect(s.file, func(n ast.Node) bool {
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
