package cmd

import (
	"os"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/help"
	"github.com/operon-sdk/operon/cmd/internal/prompt"
)

// Env is the environment of a command, which accesses the process and the machine only through it. Tests create one with
// buffers, a fixed clock and their own file system.
type Env = env.Env

// A Command describes a program to run.
type Command = env.Command

// A Prompter asks the user for values of missing flags.
type Prompter = prompt.Prompter

// A Question asks for a line of text.
type Question = prompt.Question

// System returns the Env of this process.
func System() (*Env, error) { return env.System() }

// EndSignals returns the signals that ask the program to end: an interrupt, SIGTERM, and the SIGHUP of a closed terminal
// unless it is ignored, as nohup does.
func EndSignals() []os.Signal { return env.EndSignals() }

// errInterrupted is the error of an interrupted command.
var errInterrupted = prompt.ErrInterrupted

// prompt returns the prompter of the Env, which is created if necessary.
func (a *app) prompt() Prompter {
	if a.Prompter == nil {
		a.Prompter = prompt.New(prompt.Terminal{
			In: a.In, Out: a.Out, Err: a.Err, InTerminal: a.InTerminal, OutTerminal: a.OutTerminal, ErrTerminal: a.ErrTerminal,
			Dumb: a.Dumb(), Width: help.Width(a.Out, a.OutTerminal), Interrupted: a.interrupted,
		})
	}
	return a.Prompter
}

// ask asks for the value of a flag.
func (a *app) ask(flag string, value *string, q Question) (err error) {
	if *value, err = a.prompt().Input(q); err == nil {
		a.answered = append(a.answered, "--"+flag, *value)
	}
	return err
}
