package makefile

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// functions maps the functions of make to their maximum number of arguments; 0 means any number.
var functions = sync.OnceValue(func() map[string]int {
	return map[string]int{
		"subst": 3, "patsubst": 3, "strip": 1, "findstring": 2, "filter": 2, "filter-out": 2, "sort": 1, "word": 2,
		"wordlist": 3, "words": 1, "firstword": 1, "lastword": 1, "dir": 1, "notdir": 1, "suffix": 1, "basename": 1,
		"addsuffix": 2, "addprefix": 2, "join": 2, "wildcard": 1, "realpath": 1, "abspath": 1, "if": 3, "or": 0, "and": 0,
		"foreach": 3, "call": 0, "value": 1, "eval": 1, "origin": 1, "flavor": 1, "error": 1, "warning": 1, "info": 1,
		"shell": 1, "file": 2,
	}
})

// cutFunction splits the text of a reference to a function into name and arguments.
func cutFunction(inner string) (name, arguments string, ok bool) {
	i := strings.IndexAny(inner, " \t")
	if i <= 0 || strings.Contains(inner[:i], "$") {
		return "", "", false
	}
	_, ok = functions()[inner[:i]]
	return inner[:i], strings.TrimLeft(inner[i:], " \t"), ok
}

// arguments splits the arguments of a function at commas outside brackets of the kind of the reference.
func arguments(text string, open byte, limit int) []string {
	end := byte(')')
	if open == '{' {
		end = '}'
	}
	var list []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case end:
			depth--
		case ',':
			if depth == 0 && (limit == 0 || len(list) < limit-1) {
				list, start = append(list, text[start:i]), i+1
			}
		}
	}
	return append(list, text[start:])
}

// call expands a function.
func (m *Makefile) call(name, text string, open byte) string {
	args := arguments(text, open, functions()[name])
	arg := func(i int) string {
		if i >= len(args) {
			return ""
		}
		return m.expand(args[i])
	}
	number := func(i int) int {
		n, err := strconv.Atoi(strings.TrimSpace(arg(i)))
		if err != nil {
			m.problem("%s: argument %d is not a number", name, i+1)
		}
		return n
	}
	mapped := func(words string, f func(string) string) string {
		fields := strings.Fields(words)
		for i, word := range fields {
			fields[i] = f(word)
		}
		return strings.Join(slices.DeleteFunc(fields, func(s string) bool { return s == "" }), " ")
	}
	switch name {
	case "subst":
		from, to, in := arg(0), arg(1), arg(2)
		if from == "" {
			return in + to
		}
		return strings.ReplaceAll(in, from, to)
	case "patsubst":
		return patsubst(strings.TrimSpace(arg(0)), strings.TrimSpace(arg(1)), arg(2))
	case "strip":
		return strings.Join(strings.Fields(arg(0)), " ")
	case "findstring":
		if find := arg(0); strings.Contains(arg(1), find) {
			return find
		}
		return ""
	case "filter", "filter-out":
		patterns := strings.Fields(arg(0))
		return mapped(arg(1), func(word string) string {
			matched := slices.ContainsFunc(patterns, func(p string) bool { _, ok := match(p, word); return ok })
			if matched == (name == "filter") {
				return word
			}
			return ""
		})
	case "sort":
		words := strings.Fields(arg(0))
		slices.Sort(words)
		return strings.Join(slices.Compact(words), " ")
	case "word":
		return strings.Join(wordRange(strings.Fields(arg(1)), number(0), number(0)), " ")
	case "wordlist":
		return strings.Join(wordRange(strings.Fields(arg(2)), number(0), number(1)), " ")
	case "words":
		return strconv.Itoa(len(strings.Fields(arg(0))))
	case "firstword":
		return strings.Join(wordRange(strings.Fields(arg(0)), 1, 1), "")
	case "lastword":
		words := strings.Fields(arg(0))
		return strings.Join(wordRange(words, len(words), len(words)), "")
	case "dir":
		return mapped(arg(0), func(word string) string {
			if i := strings.LastIndexByte(word, '/'); i >= 0 {
				return word[:i+1]
			}
			return "./"
		})
	case "notdir":
		return mapped(arg(0), func(word string) string { return word[strings.LastIndexByte(word, '/')+1:] })
	case "suffix":
		return mapped(arg(0), path.Ext)
	case "basename":
		return mapped(arg(0), func(word string) string { return strings.TrimSuffix(word, path.Ext(word)) })
	case "addsuffix":
		suffix := arg(0)
		return mapped(arg(1), func(word string) string { return word + suffix })
	case "addprefix":
		prefix := arg(0)
		return mapped(arg(1), func(word string) string { return prefix + word })
	case "join":
		a, b := strings.Fields(arg(0)), strings.Fields(arg(1))
		var joined []string
		for i := range max(len(a), len(b)) {
			word := ""
			if i < len(a) {
				word = a[i]
			}
			if i < len(b) {
				word += b[i]
			}
			joined = append(joined, word)
		}
		return strings.Join(joined, " ")
	case "wildcard":
		return m.wildcard(strings.Fields(arg(0)))
	case "realpath", "abspath":
		return mapped(arg(0), func(word string) string {
			if !path.IsAbs(word) && !strings.HasPrefix(word, unresolvedStart) {
				word = m.opts.Dir + "/" + word
			}
			return path.Clean(word)
		})
	case "if":
		if strings.TrimSpace(m.expand(strings.TrimSpace(args[0]))) != "" {
			return arg(1)
		}
		return arg(2)
	case "or":
		for i := range args {
			if value := m.expand(strings.TrimSpace(args[i])); value != "" {
				return value
			}
		}
		return ""
	case "and":
		value := ""
		for i := range args {
			if value = m.expand(strings.TrimSpace(args[i])); value == "" {
				return ""
			}
		}
		return value
	case "foreach":
		return m.foreach(args)
	case "call":
		return m.callVariable(args)
	case "value":
		if v := m.lookup(arg(0)); v != nil {
			return v.value
		}
		return ""
	case "eval":
		current := m.current
		m.run(m.at.File, m.at.Line-1, parse([]byte(arg(0))))
		m.current = current
		return ""
	case "origin":
		if v := m.lookup(arg(0)); v != nil {
			return v.origin
		}
		return "undefined"
	case "flavor":
		switch v := m.lookup(arg(0)); {
		case v == nil:
			return "undefined"
		case v.recursive:
			return "recursive"
		}
		return "simple"
	case "error":
		m.problem("%s", arg(0))
		return ""
	case "shell":
		return m.shell(arg(0))
	case "file":
		return m.file(arg(0))
	}
	arg(0) // info and warning only print
	return ""
}

// patsubst replaces the words that match a pattern.
func patsubst(pattern, replacement, text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if stem, ok := match(pattern, word); ok {
			words[i] = replacement
			if strings.Contains(pattern, "%") {
				words[i] = strings.Replace(replacement, "%", stem, 1)
			}
		}
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

// match reports whether a word matches a pattern with at most one percent sign, and returns the part that the sign matches.
func match(pattern, word string) (stem string, ok bool) {
	prefix, suffix, wild := strings.Cut(pattern, "%")
	if !wild {
		return "", pattern == word
	}
	if len(word) < len(prefix)+len(suffix) || !strings.HasPrefix(word, prefix) || !strings.HasSuffix(word, suffix) {
		return "", false
	}
	return word[len(prefix) : len(word)-len(suffix)], true
}

// wordRange returns the words of a range of numbers, which count from 1.
func wordRange(words []string, from, to int) []string {
	from, to = max(from, 1), min(to, len(words))
	if from > to {
		return nil
	}
	return words[from-1 : to]
}

// wildcard returns the files that match patterns.
func (m *Makefile) wildcard(patterns []string) string {
	var found []string
	for _, pattern := range patterns {
		if strings.Contains(pattern, unresolvedStart) {
			continue
		}
		if !strings.ContainsAny(pattern, "*?[") {
			if _, err := m.opts.Read(m.relative(pattern)); err == nil {
				found = append(found, pattern)
				continue
			}
		}
		if m.opts.Glob != nil {
			names := m.opts.Glob(m.relative(pattern))
			slices.Sort(names)
			if strings.HasPrefix(pattern, "./") {
				for i := range names {
					names[i] = "./" + names[i]
				}
			}
			found = append(found, names...)
		}
	}
	return strings.Join(found, " ")
}

// file returns the content of a file for $(file < NAME). Other operators write files and are ignored.
func (m *Makefile) file(argument string) string {
	name, ok := strings.CutPrefix(strings.TrimSpace(argument), "<")
	if !ok {
		return ""
	}
	data, err := m.opts.Read(m.relative(strings.TrimSpace(name)))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(data), "\n")
}

// foreach expands $(foreach NAME,WORDS,TEXT).
func (m *Makefile) foreach(args []string) string {
	if len(args) < 3 {
		m.problem("foreach: needs three arguments")
		return ""
	}
	name := strings.TrimSpace(m.expand(args[0]))
	var results []string
	for _, word := range strings.Fields(m.expand(args[1])) {
		results = append(results, m.within(map[string]*variable{name: {value: word, origin: "automatic"}}, func() string { return m.expand(args[2]) }))
	}
	return strings.Join(results, " ")
}

// callVariable expands $(call NAME,ARGUMENTS).
func (m *Makefile) callVariable(args []string) string {
	name := strings.TrimSpace(m.expand(args[0]))
	scope := map[string]*variable{"0": {value: name, origin: "automatic"}}
	for i, arg := range args[1:] {
		scope[strconv.Itoa(i+1)] = &variable{value: m.expand(arg), origin: "automatic"}
	}
	for i := len(args); i < 10; i++ {
		scope[strconv.Itoa(i)] = &variable{origin: "automatic"}
	}
	if _, ok := functions()[name]; ok {
		var values []string
		for i := 1; i < len(args); i++ {
			values = append(values, "$("+strconv.Itoa(i)+")")
		}
		return m.within(scope, func() string { return m.call(name, strings.Join(values, ","), '(') })
	}
	v := m.lookup(name)
	if v == nil {
		return ""
	}
	return m.within(scope, func() string { return m.expand(v.value) })
}
