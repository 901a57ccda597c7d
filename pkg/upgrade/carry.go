package upgrade

import (
	"path"
	"slices"
	"strings"
)

// carry puts into today's text what a person has set or added, where the text's form says where it belongs: values
// of variables, keys and items of YAML, imports, files that an image is built from. What both texts have then is no
// change any more. The rest is left to the merge of lines.
func (m *merger) carry() {
	c := &carrier{m: m, replaced: map[int]string{}, inserted: map[int][]string{}}
	m.carried, m.values = map[int]bool{}, map[int]line{}
	switch ext := path.Ext(m.name); {
	case m.name == "Makefile":
		c.variables()
	case m.name == "Dockerfile":
		c.copies()
	case ext == ".go":
		c.imports()
	case ext == ".yaml" || ext == ".yml":
		c.documents()
	}
	c.apply()
}

// carrier collects what is to be done with today's lines, counted from 0.
type carrier struct {
	m *merger
	// replaced are lines with others in their place, inserted what goes before a line.
	replaced map[int]string
	inserted map[int][]string
}

// own tells that a line of mine is none that a scaffold writes, be it commented out.
func (c *carrier) own(i int) bool {
	l := c.m.mine[i]
	return l.text != "" && !c.m.isKnown(l) && !c.m.isKnown(c.m.commented(l))
}

// replace puts a text in the place of a line of theirs: what a line of mine says.
func (c *carrier) replace(theirs, mine int, text string) {
	c.replaced[theirs] = text
	c.m.carried[mine], c.m.values[mine] = true, c.m.theirs[theirs]
}

func (c *carrier) apply() {
	if len(c.replaced)+len(c.inserted) == 0 {
		return
	}
	var raw []string
	for i := range len(c.m.rawTheirs) + 1 {
		for _, text := range c.inserted[i] {
			raw = append(raw, strings.TrimRight(text, "\r\n")+"\n")
		}
		if text, ok := c.replaced[i]; ok {
			raw = append(raw, strings.TrimRight(text, "\r\n")+"\n")
		} else if i < len(c.m.rawTheirs) {
			raw = append(raw, c.m.rawTheirs[i])
		}
	}
	c.m.rawTheirs = raw
	c.m.theirs = c.m.words.lines([]byte(strings.Join(raw, "")))
}

// variables carries the values of a Makefile's variables.
func (c *carrier) variables() {
	mine, theirs := assignments(c.m.mine), assignments(c.m.theirs)
	for name, at := range mine {
		if to, ok := theirs[name]; ok && at >= 0 && to >= 0 && c.own(at) {
			c.replace(to, at, c.m.mine[at].text)
		}
	}
}

// assignments are the lines that set the variables of a Makefile; -1 for variables that several lines set.
func assignments(lines []line) map[string]int {
	found := map[string]int{}
	for i, l := range lines {
		before, _, ok := strings.Cut(l.text, "=")
		name := strings.TrimRight(before, " ?:")
		if !ok || strings.HasSuffix(l.text, "\\") || name == "" || strings.ContainsAny(name, " \t#+!") {
			continue
		}
		if _, twice := found[name]; twice {
			i = -1
		}
		found[name] = i
	}
	return found
}

// copies carries what a Dockerfile copies besides, to where today's copies the sources.
func (c *carrier) copies() {
	sources := func(lines []line) int {
		return slices.IndexFunc(lines, func(l line) bool { return strings.HasPrefix(l.text, "RUN ") && strings.Contains(l.text, "go build") })
	}
	at, to := sources(c.m.mine), sources(c.m.theirs)
	if at < 0 || to < 0 {
		return
	}
	for i, l := range c.m.mine[:at] {
		if strings.HasPrefix(l.text, "COPY ") && c.own(i) {
			c.inserted[to], c.m.carried[i] = append(c.inserted[to], l.text), true
		}
	}
}

// imports carries imports of a Go file to the end of today's, and those of the standard library to the end of its own.
func (c *carrier) imports() {
	of := func(lines []line) (from, to int) {
		from = slices.IndexFunc(lines, func(l line) bool { return l.text == "import (" })
		if from < 0 {
			return 0, 0
		}
		to = slices.IndexFunc(lines[from:], func(l line) bool { return l.text == ")" })
		return from + 1, from + max(to, 1)
	}
	from, end := of(c.m.mine)
	first, last := of(c.m.theirs)
	for last > first && strings.HasPrefix(strings.TrimSpace(c.m.theirs[last-1].text), "//") {
		last--
	}
	standard := first
	for standard < last && isStandard(c.m.theirs[standard].text) {
		standard++
	}
	for i := from; i < end && last > first; i++ {
		text := c.m.mine[i].text
		if !strings.HasSuffix(text, `"`) || !c.own(i) {
			continue
		}
		c.m.carried[i] = true
		to := last
		if isStandard(text) {
			to = standard
		}
		if !slices.ContainsFunc(c.m.theirs[first:last], func(l line) bool { return l.text == text }) {
			c.inserted[to] = append(c.inserted[to], text)
		}
	}
}

// isStandard tells whether a line imports a package of the standard library.
func isStandard(text string) bool {
	_, imported, found := strings.Cut(text, `"`)
	first, _, _ := strings.Cut(imported, "/")
	return found && !strings.Contains(first, ".")
}
