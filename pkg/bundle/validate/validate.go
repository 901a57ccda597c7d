package validate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"

	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Options configures the checks.
type Options struct {
	// Selector selects optional validators by their labels; nil or empty selects none.
	Selector labels.Selector
	// Values are passed to the optional validators: k8s-version, index-path, container-tools.
	Values map[string]string
	// Categories replaces the standard categories unless it is nil.
	Categories []string
	// CategoriesErr is the error of reading Categories: a finding for bundles with categories.
	CategoriesErr error
	// AsOperatorSDK makes problems that operator-sdk doesn't find warnings, so that the verdict is the same.
	AsOperatorSDK bool
	// Strict converts warnings to errors.
	Strict bool
	// External runs external validators for a bundle; nil runs none.
	External func(ctx context.Context, bundle string) ([]apierrors.ManifestResult, error)
	// Rename replaces absolute paths in validators' messages with the paths that the caller passed.
	Rename *strings.Replacer
}

// A Source is a bundle to check.
type Source struct {
	// FS holds the files of the bundle, Name is its name in messages.
	FS   fs.FS
	Name string
	// Close releases FS; nil means that it needs no release.
	Close func() error
	// Err is the only finding if the files are not available.
	Err *diag.Finding
}

// Bundle checks one bundle. Its error comes from Options.External.
func Bundle(ctx context.Context, source Source, o Options) (Result, error) {
	return check(ctx, source, o, sync.OnceValue(newPhrasebook))
}

func check(ctx context.Context, source Source, o Options, phrases func() *phrasebook) (Result, error) {
	if source.Err != nil {
		return Result{Bundle: source.Name, Findings: tidy(diag.Findings{*source.Err}, o.Strict), Unread: fmt.Errorf("%s: %s", source.Err.File, source.Err.Problem)}, nil
	}
	if source.Close != nil {
		defer source.Close()
	}
	c := load(source.FS, source.Name, phrases)
	findings := c.findings
	c.findings = nil
	if !slices.ContainsFunc(findings, func(f diag.Finding) bool { return f.Severity == diag.Error }) {
		format := c.checkFormat()
		upstream := c.checkContent()
		findings = append(findings, c.findings...)
		findings = append(append(findings, format...), upstream...)
		findings = append(findings, c.checkOptional(o)...)
		if o.External != nil {
			results, err := o.External(ctx, source.Name)
			if err != nil {
				return Result{}, err
			}
			for _, result := range results {
				findings = append(findings, c.convert("external", result)...)
			}
		}
		findings = append(findings, c.checkRules(o)...)
	}
	if o.Rename != nil {
		for i := range findings {
			findings[i].Problem = o.Rename.Replace(findings[i].Problem)
			if findings[i].Err != nil {
				findings[i].Err = errors.New(o.Rename.Replace(findings[i].Err.Error()))
			}
		}
	}
	return Result{Bundle: source.Name, Findings: tidy(findings, o.Strict)}, nil
}

// tidy removes repeated findings and applies --strict.
func tidy(findings diag.Findings, strict bool) diag.Findings {
	type key struct {
		at                diag.Position
		level             diag.Severity
		rule, field, text string
	}
	seen := map[key]bool{}
	messages := map[string]bool{}
	out := diag.Findings{}
	for _, f := range findings {
		if strict && f.Severity == diag.Warning {
			f.Severity = diag.Error
		}
		if f.Line > 0 && f.Column == 0 {
			f.Column = 1
		}
		k := key{f.Position, f.Severity, f.Rule, f.Field, f.Problem}
		message := string(f.Severity) + sdkMessage(f)
		if seen[k] || f.Err != nil && messages[message] {
			continue
		}
		seen[k] = true
		messages[message] = f.Err != nil
		f.Long = true
		out = append(out, f)
	}
	return out
}

// Bundles checks many bundles in parallel and calls emit with the results in order, each as soon as possible. It stops at
// the first error of emit or of a check.
func Bundles(ctx context.Context, sources []func() Source, o Options, emit func(Result) error) error {
	type answer struct {
		result Result
		err    error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	phrases := sync.OnceValue(newPhrasebook)
	workers := min(runtime.GOMAXPROCS(0), len(sources))
	// Each source has its own channel, so that only emit waits for the order.
	answers := make([]chan answer, len(sources))
	for i := range answers {
		answers[i] = make(chan answer, 1)
	}
	next := make(chan int)
	for range workers {
		go func() {
			for i := range next {
				result, err := check(ctx, sources[i](), o, phrases)
				answers[i] <- answer{result, err}
			}
		}()
	}
	go func() {
		defer close(next)
		for i := range sources {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	for i := range answers {
		select {
		case a := <-answers[i]:
			if a.err != nil {
				return a.err
			}
			if err := emit(a.result); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
