package upgrade

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// role is what a statement of main does, in whatever words.
func role(s *source, stmt ast.Stmt) string {
	text := s.span(stmt)
	switch stmt := stmt.(type) {
	case *ast.ExprStmt:
		for name, call := range map[string]string{"parse": "flag.Parse()", "logger": "ctrl.SetLogger("} {
			if strings.HasPrefix(text, call) {
				return name
			}
		}
		if strings.HasPrefix(text, `setupLog.Info("`) && strings.Contains(strings.ToLower(text), "starting") && strings.Contains(strings.ToLower(text), "manager") {
			return "starting"
		}
	case *ast.AssignStmt:
		if len(stmt.Lhs) == 2 && s.span(stmt.Lhs[0]) == "mgr" && strings.HasPrefix(s.span(stmt.Rhs[0]), "ctrl.NewManager(") {
			return "manager"
		}
	case *ast.IfStmt:
		if stmt.Init == nil {
			break
		}
		init := squeezed(s.span(stmt.Init))
		for name, call := range map[string]string{"healthz": "mgr.AddHealthzCheck(", "readyz": "mgr.AddReadyzCheck(", "start": "mgr.Start("} {
			if strings.HasPrefix(init, "err := "+call) {
				return name
			}
		}
		if m := regexp.MustCompile(`^err :?= \(&(\w+\.\w+)\{.*\}\)\.SetupWithManager\(mgr\)$`).FindStringSubmatch(init); m != nil {
			return "controller " + m[1]
		}
	}
	if m := regexp.MustCompile(`\b(\w+\.Setup\w+WebhookWithManager)\(mgr\)`).FindStringSubmatch(text); m != nil {
		return "webhook " + m[1]
	}
	return ""
}

// main takes over what a person has added to main.
func (p *programs) main() {
	theirs := map[string]ast.Stmt{}
	list := p.theirs.function("main").Body.List
	for i, stmt := range list {
		name := role(p.theirs, stmt)
		if name != "" && theirs[name] == nil {
			theirs[name] = stmt
		}
		if name == "manager" && i+1 < len(list) {
			theirs["managed"] = list[i+1] // looks at the error
		}
	}
	for _, name := range []string{"parse", "logger", "manager", "managed", "starting", "start"} {
		if theirs[name] == nil {
			p.ok = false
			return
		}
	}
	before, after := "parse", "" // where a statement goes: before flags are parsed, and then behind the last one that both have
	for i, stmt := range p.mine.function("main").Body.List {
		name := role(p.mine, stmt)
		if name == "" && i > 0 && role(p.mine, p.mine.function("main").Body.List[i-1]) == "manager" {
			name = "managed"
		}
		other := theirs[name]
		switch {
		case other != nil:
			p.both(name, stmt, other)
			before, after = "", name
			p.dropped[stmt] = true
		case p.older(stmt):
			p.dropped[stmt] = true
		case before != "":
			p.insert(p.theirs.lineStart(p.theirs.offset(theirs[before].Pos())), stmt)
		default:
			p.insert(p.theirs.lineEnd(p.theirs.offset(theirs[after].End())), stmt)
		}
	}
}

// older tells that a statement is the scaffold's, and that today's program has it in another form, or does without it.
func (p *programs) older(stmt ast.Stmt) bool {
	if p.scaffoldedNode(stmt) {
		return true
	}
	// One that gofmt has aligned otherwise.
	if d, ok := stmt.(*ast.DeclStmt); ok {
		text := squeezed(p.mine.span(d))
		for _, known := range []string{"var metricsAddr string", "var enableLeaderElection bool", "var probeAddr string", "var enableHTTP2 bool", "var secureMetrics bool"} {
			if text == known {
				p.settle(d)
				return true
			}
		}
	}
	return false
}

// both takes over what a person has made of a statement that both programs have.
func (p *programs) both(name string, mine, theirs ast.Stmt) {
	switch {
	case name == "manager":
		p.options(mine, theirs)
	case strings.HasPrefix(name, "controller "):
		p.controller(mine, theirs)
	case p.scaffoldedNode(mine), squeezed(p.mine.span(mine)) == squeezed(p.theirs.span(theirs)):
	default:
		p.replace(mine, theirs)
	}
}

// replace puts a statement of mine in the place of theirs.
func (p *programs) replace(mine, theirs ast.Stmt) {
	from, to := p.mine.with(mine)
	_, end := p.theirs.with(theirs)
	start := p.theirs.lineStart(p.theirs.offset(theirs.Pos()))
	p.take(mine, from, to, start, end, "")
}

// literal is the first composite literal in a statement's call, whose elements all have keys.
func literal(n ast.Node) *ast.CompositeLit {
	var found *ast.CompositeLit
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && found == nil {
			found = lit
		}
		return found == nil
	})
	return found
}

// fields are the elements of a literal by their keys, in order.
func fields(s *source, lit *ast.CompositeLit) (keys []string, values map[string]*ast.KeyValueExpr) {
	values = map[string]*ast.KeyValueExpr{}
	for _, element := range lit.Elts {
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			key := s.span(kv.Key)
			keys, values[key] = append(keys, key), kv
		}
	}
	return keys, values
}

// controller takes over a reconciler with fields, or what becomes of an error, that are a person's. The logger that
// reconcilers of go/v2 have is a field too: their code goes on to use it.
func (p *programs) controller(mine, theirs ast.Stmt) {
	keys, values := fields(p.mine, literal(mine))
	_, others := fields(p.theirs, literal(theirs))
	own := false
	for _, key := range keys {
		other := others[key]
		value := squeezed(p.mine.span(values[key].Value))
		own = own || other == nil || squeezed(p.theirs.span(other.Value)) != value
	}
	body := mine.(*ast.IfStmt).Body
	known := true
	for _, stmt := range body.List {
		known = known && p.scaffoldedNode(stmt)
	}
	if own || !known {
		p.replace(mine, theirs)
		return
	}
	p.settle(mine)
}

// options takes over fields of the manager's options.
func (p *programs) options(mine, theirs ast.Stmt) {
	was, is := literal(mine), literal(theirs)
	if was == nil || is == nil || p.mine.span(was.Type) != "ctrl.Options" || len(is.Elts) == 0 {
		p.ok = p.ok && p.scaffoldedNode(mine)
		return
	}
	keys, values := fields(p.mine, was)
	_, others := fields(p.theirs, is)
	p.ok = p.ok && len(keys) == len(was.Elts)
	usual := map[string][]string{
		"Scheme": {"scheme"}, "MetricsBindAddress": {"metricsAddr"}, "Port": {"9443"}, "HealthProbeBindAddress": {"probeAddr"},
		"LeaderElection": {"enableLeaderElection"}, "Metrics": {"metricsServerOptions", "metricsserver.Options{BindAddress: metricsAddr}"}, "WebhookServer": {"webhookServer"},
	}
	end := p.theirs.lineEnd(p.theirs.offset(is.Elts[len(is.Elts)-1].End()))
	for _, key := range keys {
		kv, other := values[key], others[key]
		value := squeezed(p.mine.span(kv.Value))
		switch {
		case slices.Contains(usual[key], value), other != nil && squeezed(p.theirs.span(other.Value)) == value:
			p.settle(kv)
		case (key == "Metrics" || key == "WebhookServer") && p.scaffoldedNode(kv.Value):
		case key == "MetricsBindAddress", key == "Port", key == "Host", key == "CertDir", key == "Metrics", key == "WebhookServer":
			p.ok = false // today's program has them in places of their own
		case other != nil:
			p.take(kv, p.mine.offset(kv.Pos()), p.mine.offset(kv.End()), p.theirs.offset(other.Pos()), p.theirs.offset(other.End()), "")
			p.settle(kv)
		default:
			p.insert(end, kv)
		}
	}
}
