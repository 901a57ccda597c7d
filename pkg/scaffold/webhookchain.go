package scaffold

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// wireWebhooks adds the new webhooks of data to the call chain in the set-up function of a file, after the call that
// begins the chain. Existing calls are kept, but their paths are updated.
func wireWebhooks(name string, content []byte, data Data) ([]byte, error) {
	content, crlf := textdiff.ToLF(content)
	file, err := gosource.Parse(name, content)
	if err != nil {
		return nil, syntaxError(err)
	}
	calls := chainCalls(data)
	setup := "Setup" + data.Resource.Kind + "WebhookWithManager"
	chain, start := webhookChain(file.AST, setup)
	if start == nil {
		return nil, findingf(name, "the function %s with a chain of calls that begins with NewWebhookManagedBy is missing; add to its set-up:\n%s",
			setup, strings.Join(calls, "\n"))
	}
	text := ""
	var edits []textdiff.Edit
	for _, call := range calls {
		method, _, _ := strings.Cut(call, "(")
		switch existing := chain[method]; {
		case existing == nil:
			text += ".\n\t\t" + call
		case strings.HasSuffix(method, "CustomPath"):
			// A webhook that is written again may get another path.
			edits = append(edits, textdiff.Edit{From: file.Offset(existing.Lparen), To: file.Offset(existing.End()), Text: call[len(method):]})
		}
	}
	at := file.Offset(start.End())
	out, err := file.Apply(append(edits, textdiff.Edit{From: at, To: at, Text: text}))
	if err != nil {
		return nil, err
	}
	return textdiff.FromLF(out, crlf), nil
}

// chainCalls returns the calls that set up the new webhooks.
func chainCalls(data Data) []string {
	var calls []string
	w := data.Webhook
	if w.Defaulting {
		calls = append(calls, "WithDefaulter(&"+data.Defaulter()+"{})")
		if w.CustomDefaultingPath {
			calls = append(calls, fmt.Sprintf("WithDefaulterCustomPath(%q)", w.DefaultingPath))
		}
	}
	if w.Validation {
		calls = append(calls, "WithValidator(&"+data.Validator()+"{})")
		if w.CustomValidationPath {
			calls = append(calls, fmt.Sprintf("WithValidatorCustomPath(%q)", w.ValidationPath))
		}
	}
	return calls
}

// webhookChain finds the methods that the function setup calls on a webhook builder, and the call after which more can be
// added: NewWebhookManagedBy, or the call of For that builders of older releases need next.
func webhookChain(file *ast.File, setup string) (methods map[string]*ast.CallExpr, start *ast.CallExpr) {
	methods = map[string]*ast.CallExpr{}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Recv != nil || function.Name.Name != setup || function.Body == nil {
			continue
		}
		ast.Inspect(function.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := gosource.CalledName(call)
			methods[name] = call
			if name == "For" || name == "NewWebhookManagedBy" && start == nil {
				start = call
			}
			return true
		})
	}
	return methods, start
}
