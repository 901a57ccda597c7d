package scaffold

import (
	"fmt"
	"go/ast"
	"go/format"
	"strings"
)

// wireWebhooks adds the new webhooks of data to the call chain in the set-up function of a file that has one
// already, below what begins the chain. A call that the chain has is not added again, but its path is set.
func wireWebhooks(name string, content []byte, data Data) ([]byte, error) {
	content, crlf := unixLines(content)
	d, err := openDeclarations(name, content)
	if err != nil {
		return nil, &ContentError{fmt.Errorf("%w; correct it and run the command again", firstError(err))}
	}
	calls := chainCalls(data)
	setup := "Setup" + data.Resource.Kind + "WebhookWithManager"
	chain, start := webhookChain(d.file, setup)
	if start == nil {
		return nil, &ContentError{fmt.Errorf("%s: the function %s with a chain of calls that begins with NewWebhookManagedBy is missing; add to its set-up:\n%s",
			name, setup, strings.Join(calls, "\n"))}
	}
	text := ""
	var edits []edit
	for _, call := range calls {
		method, _, _ := strings.Cut(call, "(")
		switch there := chain[method]; {
		case there == nil:
			text += ".\n\t\t" + call
		case strings.HasSuffix(method, "CustomPath"):
			// A webhook that is written again may get another path.
			edits = append(edits, edit{d.offset(there.Lparen), d.offset(there.End()), call[len(method):]})
		}
	}
	at := d.offset(start.End())
	out := applyEdits(content, append(edits, edit{at, at, text}))
	if isFormatted(content) {
		if out, err = format.Source(out); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if crlf {
		out = []byte(strings.ReplaceAll(string(out), "\n", "\r\n"))
	}
	return out, nil
}

// chainCalls are the calls that set up the new webhooks.
func chainCalls(data Data) []string {
	var calls []string
	w := data.Webhook
	if w.Defaulting {
		calls = append(calls, "WithDefaulter(&"+data.Resource.Kind+"CustomDefaulter{})")
		if w.CustomDefaultingPath {
			calls = append(calls, fmt.Sprintf("WithDefaulterCustomPath(%q)", w.DefaultingPath))
		}
	}
	if w.Validation {
		calls = append(calls, "WithValidator(&"+data.Resource.Kind+"CustomValidator{})")
		if w.CustomValidationPath {
			calls = append(calls, fmt.Sprintf("WithValidatorCustomPath(%q)", w.ValidationPath))
		}
	}
	return calls
}

// webhookChain finds the methods that the function setup calls on a webhook builder, and the call after which
// more can follow: NewWebhookManagedBy itself, or the For that older builders need next.
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
			name := calledName(call)
			methods[name] = call
			if name == "For" || name == "NewWebhookManagedBy" && start == nil {
				start = call
			}
			return true
		})
	}
	return methods, start
}
