// Package ansiblerole derives the parts of an operator from Ansible roles and playbooks: the rules of the manager's role, and the
// schema and the sample of a kind. It reads files; it neither runs Ansible nor connects to a cluster.
//
// [Rules] follows everything that the entries of watches.yaml can run and collects the permissions that this needs. [Schema] reads
// the argument specifications of the same roles.
//
// # Parts
//
//   - A reader holds the files of the project. It parses each once, finds the file or role that a name refers to from a place, and
//     returns where a YAML node begins.
//   - A walker follows plays, roles, includes and tasks. It defines the variables that they set.
//   - modules reads each call of a module in a task, and turns the arguments of Kubernetes modules into objects and verbs.
//   - An evaluator computes what an expression, a variable or a YAML node can be. Its templates render the files of objects.
//   - rules turns kinds and verbs into permissions. A scanner adds what expressions look up in the cluster.
//   - A specReader turns argument specifications into a schema.
//
// The parts share one progress: the files being read, the number of steps, and the notes.
//
// # Values
//
// Ansible decides at run time what an expression is, so a value here is abstract: a set of alternatives, and a mark for values that
// may be something else. An alternative is a string, a list, a mapping, a node of a file with the scope its expressions are
// evaluated in, or the text of a rendered file. Numbers and Booleans are strings, as Jinja makes no difference where it matters
// here.
//
//   - An open value may be anything else, too. A value without alternatives that is open is unknown: this is what a field of the
//     custom resource, a fact about a host or the output of a command is. A value that is not open and has no alternatives is
//     undefined.
//   - A string can be known in part. The character unknown stands for the part that isn't, so "{{ name }}-config" is "\x00-config"
//     and still matches the files and names that end that way.
//   - A value that comes from a default of the role is settable: custom resources can replace it, so it shows what can happen, but
//     doesn't exclude anything. If the argument specification limits the default to choices, the choices are alternatives instead.
//
// An error in one direction is harmless: permissions and files that an alternative requires are granted and read even if it never
// occurs. In the other direction the result may be incomplete, and a note at the place that causes it warns of that.
//
// # Joins
//
// Where paths meet, values are united (union):
//
//   - Conditions don't select. Every branch of an if, when, block, rescue and always is followed, and an expression with a
//     condition has the values of both sides.
//   - A loop runs its task once for each known item, and once more with an unknown item if the list is open. Longer lists than
//     maxItems run once, with an item that is the union of all. A loop in a template is rendered once, with that union.
//   - set_fact, register and include_vars add values to a variable, wherever they are. As a task can use what a later task or
//     another run has set, the files of a kind are read maxPasses times: each pass uses the facts of the pass before, and only the
//     last one adds rules and notes.
//   - An include whose name is known in part includes every file or role that the name can be.
//   - A variable that is defined by itself adds nothing to its other values.
//
// # Templates
//
// A template is rendered with the bodies of all branches and then parsed as YAML. An expression that isn't a single known string
// becomes a reference in the text: a number between two private characters, which stands for the value. So the result has the lines
// of the template, which notes can name, and a field of an object can have several values.
//
// # Limits
//
// Projects can be hostile. Alternatives (maxAlternatives), text lengths, nesting (maxDepth) and steps (budgets) are limited; what
// exceeds a limit is unknown, and a note warns if rules may be missing.
//
// A role or playbook has a budget of steps that grows with its size, and a task may use half of what is left, so that the rest of the
// operator is analyzed even if one task is too expensive. Where a budget is spent, a literalReader finds the kinds that the files of the
// role and of those that it includes name literally, and a note lists the places.
package ansiblerole
