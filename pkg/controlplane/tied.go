package controlplane

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Program is a program that runs until it is stopped, and not longer than this process.
type Program struct{ p *process }

// StartProgram starts a program in a process group of its own, so that an interrupt at the terminal
// does not reach it. log gets all that it writes.
func StartProgram(name string, command Command, log io.Writer) (*Program, error) {
	p, err := startProcess(name, command.Name, command.Args, command.Env, command.Dir, log)
	if err != nil {
		return nil, err
	}
	if err := guard(p); err != nil {
		p.kill()
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return &Program{p: p}, nil
}

// Done is closed when the program has ended.
func (p *Program) Done() <-chan struct{} { return p.p.done }

// Failure tells, once Done is closed, how the program ended, with the last lines of its log.
func (p *Program) Failure() *Failure { return p.p.failure() }

// Stop asks the program to end and waits for it; after grace, or when hurry is closed, it is killed.
// It reports whether the program ended by itself.
func (p *Program) Stop(grace time.Duration, hurry <-chan struct{}) (graceful bool) {
	_ = interrupt(p.p.cmd.Process) // fails only for one that has ended
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.p.done:
		return true
	case <-timer.C:
	case <-hurry:
	}
	p.p.kill()
	return false
}

// RunTied runs a program to its end. It is interrupted, with all that it started, when ctx ends, and does
// not outlive this process.
func RunTied(ctx context.Context, command Command) error { return runTied(ctx, command) }

// WriteServingCertificate writes tls.crt and tls.key for a server on this machine into dir, and
// returns the certificate of the authority that signed them, in PEM. Nobody holds the authority's key.
func WriteServingCertificate(dir string) (caPEM []byte, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	template, err := certificate("localhost")
	if err != nil {
		return nil, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	template.DNSNames = []string{"localhost"}
	return ca.pem, ca.issue(dir, "tls", template)
}
