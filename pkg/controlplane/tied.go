package controlplane

import (
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// StartProgram starts a program in a new process group, so that interrupts at the terminal do not reach it. log receives its
// output.
func StartProgram(name string, command Command, log io.Writer) (*Process, error) {
	p, err := startProcess(name, command.Name, command.Args, command.Env, command.Dir, log)
	if err != nil {
		return nil, err
	}
	if err := guard(p); err != nil {
		p.kill()
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// Done returns a channel that is closed when the program has exited.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop interrupts the program and waits for its exit. It kills the program after grace, or when kill is closed, and reports whether
// that was not necessary.
func (p *Process) Stop(grace time.Duration, kill <-chan struct{}) (graceful bool) {
	_ = interrupt(p.cmd.Process) // fails only if it has exited
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
	case <-kill:
	}
	p.kill()
	return false
}

// WriteServingCertificate writes tls.crt and tls.key for a server on this machine to dir, and returns the certificate of their
// authority in PEM. The authority's key is discarded.
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
