package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A report collects figures by runtime.
type report struct {
	mu    sync.Mutex
	rows  []row
	total map[string]int
}

type row struct {
	key, label string
	values     map[string]string
}

func newReport() *report { return &report{total: map[string]int{}} }

// rowOrder are the keys of all rows.
func rowOrder() []string {
	return []string{
		"resources", "install", "install-cpu", "install-requests", "load-rss", "rest", "rest-process", "rest-writes", "rest-cpu",
		"periods", "memory", "faults", "faults-exits", "restarts", "leaders", "leader-gap",
		"kills", "kill-install", "kill-upgrade", "kill-rollback", "kill-uninstall", "full", "tokens", "certificates", "violations",
	}
}

// set sets a figure.
func (r *report) set(flavor, key, label, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.rows, func(row row) bool { return row.key == key })
	if i < 0 {
		i = len(r.rows)
		r.rows = append(r.rows, row{key, label, map[string]string{}})
	}
	r.rows[i].values[flavor] = value
}

// add adds to the number of violations, and returns it.
func (r *report) add(flavor string, n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total[flavor] += n
	return r.total[flavor]
}

// String returns a table in Markdown.
func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) == 0 {
		return ""
	}
	order := rowOrder()
	slices.SortStableFunc(r.rows, func(a, b row) int { return slices.Index(order, a.key) - slices.Index(order, b.key) })
	var b strings.Builder
	b.WriteString("| | Helm | Ansible |\n|---|---|---|\n")
	for _, row := range r.rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.label, row.values["helm"], row.values["ansible"])
	}
	return b.String()
}

// figure sets a figure of a scenario.
func (e *env) figure(key, label, format string, args ...any) {
	e.soak.report.set(e.flavor.name, key, label, fmt.Sprintf(format, args...))
}

// thousands formats a number with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
