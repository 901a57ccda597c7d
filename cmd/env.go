package cmd

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

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

// terminal returns where the Env asks questions.
func (a *app) terminal() prompt.Terminal {
	return prompt.Terminal{
		In: a.In, Out: a.Out, Err: a.Err, InTerminal: a.InTerminal, OutTerminal: a.OutTerminal, ErrTerminal: a.ErrTerminal,
		Dumb: a.Dumb(), Width: help.Width(a.Out, a.OutTerminal), Interrupted: a.interrupted,
	}
}

// prompt returns the prompter of the Env, which is created if necessary.
func (a *app) prompt() Prompter {
	if a.Prompter == nil {
		a.Prompter = prompt.New(a.terminal())
	}
	return a.Prompter
}

// ask asks questions. At a terminal, the user can change the answers before they are used.
func (a *app) ask(steps func(prompt.Answers) []prompt.Step) (prompt.Answers, error) {
	t := a.terminal()
	v := prompt.Interview{
		Prompter: a.prompt(), Steps: steps, Review: a.InTerminal, Out: t.Stream(), Width: t.Width - 1, Command: append([]string{a.program}, a.args...),
	}
	answers, err := v.Run()
	if !errors.Is(err, prompt.ErrCanceled) { // the command with the answers has just been printed
		a.answered = append(a.answered, v.Flags()...)
	}
	return answers, err
}

// askFlags asks questions, and sets the flags of a command that give the same answers.
func (a *app) askFlags(c *cobra.Command, steps func(prompt.Answers) []prompt.Step) error {
	if _, err := a.ask(steps); err != nil {
		return err
	}
	return c.ParseFlags(a.answered)
}
