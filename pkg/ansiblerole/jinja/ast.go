package jinja

// An Expr is an expression: one of the types of this package with the word expression in its description. Nil is an expression that
// cannot be parsed.
type Expr any

type (
	// A Literal is an expression: a text, a number, true, false or none. Text is its value as text; Null is true for none.
	Literal struct {
		Text string
		Null bool
	}
	// A Name is an expression: the value of a variable.
	Name struct{ Name string }
	// An Index is an expression: an attribute or item of a value.
	Index struct{ Of, Key Expr }
	// A Slice is an expression: a part of a list. From and To are nil if they are not given.
	Slice struct{ Of, From, To Expr }
	// A Call is an expression: a function call.
	Call struct {
		Function Expr
		Arguments
	}
	// A Filter is an expression: a value changed by a filter.
	Filter struct {
		Of   Expr
		Name string
		Arguments
	}
	// A Test is an expression that is true or false: a comparison, a test or a negation.
	Test struct{ Operands []Expr }
	// A Binary is an expression with an operator: + - * / // % ** ~ and or.
	Binary struct {
		Operator    string
		Left, Right Expr
	}
	// A Choice is an expression: Then or Else, which is nil if there is none, depending on If.
	Choice struct{ Then, If, Else Expr }
	// A List is an expression: a list or tuple.
	List struct{ Items []Expr }
	// A Dict is an expression: a mapping.
	Dict struct{ Keys, Values []Expr }
	// Unknown is an expression that is not supported. Operands are the expressions in it.
	Unknown struct{ Operands []Expr }
)

// Arguments are the arguments of a call.
type Arguments struct {
	Positional []Expr
	Named      map[string]Expr
}

// A Node is a part of a template: one of the types of this package with the word node in its description.
type Node any

type (
	// Text is a node: literal text.
	Text struct{ Text string }
	// Output is a node: an expression in double braces.
	Output struct{ Value Expr }
	// A Branch is a node: the alternatives of an if statement. Otherwise is true if one of them is always taken.
	Branch struct {
		Conditions []Expr
		Bodies     [][]Node
		Otherwise  bool
	}
	// A Loop is a node: a for statement.
	Loop struct {
		Names []string
		Over  Expr
		Body  []Node
	}
	// A Set is a node: an assignment of an expression, or of a body.
	Set struct {
		Names []string
		Value Expr
		Body  []Node
	}
	// An Include is a node: the inclusion of another template. Extends is true if this template replaces blocks of the other one.
	Include struct {
		Name    Expr
		Extends bool
	}
	// A Block is a statement whose body alone matters, such as with, whose body begins with its variables.
	Block struct{ Body []Node }
	// Blank is a node: the line breaks within a statement or comment.
	Blank struct{ Lines int }
)

// Walk calls visit for an expression and all expressions in it, in order.
func Walk(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	each := func(list []Expr) {
		for _, item := range list {
			Walk(item, visit)
		}
	}
	arguments := func(a Arguments) {
		each(a.Positional)
		for _, name := range a.names() {
			Walk(a.Named[name], visit)
		}
	}
	switch e := e.(type) {
	case Index:
		each([]Expr{e.Of, e.Key})
	case Slice:
		each([]Expr{e.Of, e.From, e.To})
	case Call:
		Walk(e.Function, visit)
		arguments(e.Arguments)
	case Filter:
		Walk(e.Of, visit)
		arguments(e.Arguments)
	case Test:
		each(e.Operands)
	case Binary:
		each([]Expr{e.Left, e.Right})
	case Choice:
		each([]Expr{e.Then, e.If, e.Else})
	case List:
		each(e.Items)
	case Dict:
		each(e.Keys)
		each(e.Values)
	case Unknown:
		each(e.Operands)
	}
}
