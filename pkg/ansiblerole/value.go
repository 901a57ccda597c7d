package ansiblerole

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// unknown stands for a part of a text that is only known at run time.
const unknown = "\x00"

// A value is what an expression can be at run time: one of the alternatives, or anything else if it is open.
type value struct {
	// alts are texts (string, also for numbers and booleans) and values of the types below.
	alts []any
	open bool
	// settable are the defaults of the role that the value depends on, which custom resources can replace.
	settable []setting
}

// A setting is a variable with the place of its default.
type setting struct {
	name string
	at   diag.Position
}

// maxSettable is the number of defaults that are recorded for a value.
const maxSettable = 8

// dependingOn returns a value that also depends on the defaults that others do.
func (v value) dependingOn(others ...value) value {
	v.settable = slices.Clip(v.settable)
	for _, other := range others {
		for _, s := range other.settable {
			if len(v.settable) < maxSettable && !slices.Contains(v.settable, s) {
				v.settable = append(v.settable, s)
			}
		}
	}
	return v
}

// The alternatives of values that are not texts.
type (
	// A bound is a mapping or list of a file, whose expressions are evaluated in a scope.
	bound struct {
		node  *yaml.Node
		scope *scope
	}
	// A list is a list of values.
	list struct{ items []value }
	// A dict is a mapping, or several merged ones, where the last takes precedence.
	dict struct {
		fields map[string]value
		// bases are the mappings that the fields are merged into.
		bases []value
	}
	// A rendered is the text of a template or file.
	rendered struct {
		file  string
		scope *scope
	}
	// A null is the value null.
	null struct{}
	// An omitted is the value of the variable omit.
	omitted struct{}
)

// maxAlternatives and maxObjects limit the alternatives of a value, and of objects and templates, each of which can have another
// kind. Values with more are open.
const (
	maxAlternatives = 64
	maxObjects      = 1000
)

// most returns the number of alternatives of a value to which one more can be added.
func most(alt any) int {
	switch alt.(type) {
	case bound, rendered:
		return maxObjects
	}
	return maxAlternatives
}

// anything returns the unknown value.
func anything() value { return value{open: true} }

// maxText is the maximum length of a text that is composed of others.
const maxText = 64 << 10

func textValue(texts ...string) value {
	var v value
	for _, text := range texts {
		if !v.has(text) {
			v.alts = append(v.alts, text)
		}
	}
	return v
}

// union returns a value that can be each of several.
func union(values ...value) value {
	all := value{}.dependingOn(values...)
	for _, v := range values {
		all.open = all.open || v.open
		if len(all.alts) == 0 {
			all.alts = slices.Clip(v.alts)
			continue
		}
		for _, alt := range v.alts {
			if all.has(alt) {
				continue
			}
			if len(all.alts) >= most(alt) {
				all.open = true
				continue
			}
			all.alts = append(all.alts, alt)
		}
	}
	return all
}

// has reports whether a text, an object or a template is among the alternatives.
func (v value) has(alt any) bool {
	switch alt.(type) {
	case string, bound, rendered, macro, null, omitted, *dict:
	default:
		return false
	}
	for _, other := range v.alts[:min(len(v.alts), maxAlternatives)] {
		switch other.(type) {
		case string, bound, rendered, macro, null, omitted, *dict:
			if other == alt {
				return true
			}
		}
	}
	return false
}

// texts returns the known texts of a value. complete is false if it can be something else.
func (v value) texts() (texts []string, complete bool) {
	complete = !v.open
	for _, alt := range v.alts {
		text, ok := alt.(string)
		if !ok {
			if _, isNull := alt.(null); !isNull {
				complete = false
			}
			continue
		}
		texts = append(texts, text)
	}
	return texts, complete
}

// patterns returns the texts of a value in which unknown stands for what is not known.
func (v value) patterns() []string {
	texts, complete := v.texts()
	if (!complete || len(texts) == 0) && !slices.Contains(texts, unknown) {
		texts = append(texts, unknown)
	}
	return texts
}

func concat(parts ...value) value {
	results := []string{""}
	for _, part := range parts {
		var next []string
		for _, begin := range results {
			for _, end := range part.patterns() {
				text := begin + end
				for strings.Contains(text, unknown+unknown) {
					text = strings.ReplaceAll(text, unknown+unknown, unknown)
				}
				if next = append(next, text); len(next) > maxAlternatives || len(text) > maxText {
					return anything()
				}
			}
		}
		results = next
	}
	return union(textValue(results...)).dependingOn(parts...)
}

// known reports whether a text has no unknown part.
func known(text string) bool {
	return !strings.Contains(text, unknown) && !strings.Contains(text, referenceBegin)
}

// truth reports whether a value can be true and whether it can be false, as a Boolean.
func (v value) truth() (canBeTrue, canBeFalse bool) {
	if v.open || len(v.settable) > 0 {
		return true, true
	}
	for _, alt := range v.alts {
		text, _ := alt.(string)
		switch strings.ToLower(text) {
		case "true", "yes", "on", "y", "1":
			canBeTrue = true
		case "false", "no", "off", "n", "0", "":
			canBeFalse = true
		default:
			return true, true
		}
	}
	return canBeTrue, canBeFalse
}
