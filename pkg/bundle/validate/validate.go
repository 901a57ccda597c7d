package validate

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"

	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// Options say what is checked.
type Options struct {
	// Selector chooses optional validators by their labels; nil or empty chooses none.
	Selector labels.Selector
	// Values are passed to the optional validators: k8s-version, index-path, container-tools.
	Values map[string]string
	// Categories replace the standard categories, where they are not nil.
	Categories []string
	// CategoriesErr is why Categories could not be read: a finding about bundles that have categories.
	CategoriesErr error
	// Strict makes errors of warnings.
	Strict bool
	// External runs a program's checks of a bundle; nil runs none.
	External func(ctx context.Context, bundle string) ([]apierrors.ManifestResult, error)
	// Rename replaces texts in what validators say: absolute paths by those that the caller knows.
	Rename *strings.Replacer
}

// Source is a bundle to check: its files, and how the caller names it.
type Source struct {
	FS   fs.FS
	Name string
	// Close ends the use of FS; nil where there is nothing to end.
	Close func() error
	// Err is why there are no files; it is the only finding then.
	Err *Finding
}

// Bundle checks one bundle. An error is one of the programs that Options.External runs.
func Bundle(ctx context.Context, source Source, o Options) (Result, error) {
	return check(ctx, source, o, sync.OnceValue(newPhrasebook))
}

func check(ctx context.Context, source Source, o Options, phrases func() *phrasebook) (Result, error) {
	if source.Err != nil {
		return Result{Bundle: source.Name, Findings: []Finding{*source.Err}, Unread: fmt.Errorf("%s: %s", source.Err.File, source.Err.Text)}, nil
	}
	if source.Close != nil {
		defer source.Close()
	}
	c := load(source.FS, source.Name, phrases)
	findings := c.findings
	c.findings = nil
	if !slices.ContainsFunc(findings, func(f Finding) bool { return f.Level == Error }) {
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
			findings[i].Text, findings[i].Message = o.Rename.Replace(findings[i].Text), o.Rename.Replace(findings[i].Message)
		}
	}
	return Result{Bundle: source.Name, Findings: tidy(findings, o.Strict)}, nil
}

// tidy drops repeated findings and applies --strict.
func tidy(findings []Finding, strict bool) []Finding {
	type key struct {
		at                manifestKey
		level             Level
		rule, field, text string
	}
	seen := map[key]bool{}
	messages := map[string]bool{}
	out := []Finding{}
	for _, f := range findings {
		if strict && f.Level == Warning {
			f.Level = Error
		}
		if f.Line > 0 && f.Column == 0 {
			f.Column = 1
		}
		k := key{manifestKey{f.File, f.Line, f.Column}, f.Level, f.Rule, f.Field, f.Text}
		message := string(f.Level) + f.Message
		if seen[k] || f.Message != "" && messages[message] {
			continue
		}
		seen[k] = true
		messages[message] = f.Message != ""
		out = append(out, f)
	}
	return out
}

type manifestKey struct {
	file         string
	line, column int
}

// Bundles checks many bundles at once and hands each result over as soon as it and all before it are
// there. It stops at the first error of emit or of a check.
func Bundles(ctx context.Context, sources []func() Source, o Options, emit func(Result) error) error {
	type answer struct {
		result Result
		err    error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	phrases := sync.OnceValue(newPhrasebook)
	workers := min(runtime.GOMAXPROCS(0), len(sources))
	// Each source has a channel of its own, so that nobody waits for the order but the one who prints.
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
