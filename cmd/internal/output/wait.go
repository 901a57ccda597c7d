package output

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/olm"
	"github.com/operon-sdk/operon/pkg/transport"
)

// Waiting returns a function that prints once which host is waited for.
func (p *Printer) Waiting() func(host, waitingFor string) {
	var mu sync.Mutex
	printed := map[string]bool{}
	return func(host, waitingFor string) {
		mu.Lock()
		defer mu.Unlock()
		line := fmt.Sprintf("waiting for %s %s", host, waitingFor)
		if printed[line] {
			return
		}
		printed[line] = true
		if p.ErrTerminal {
			line = "\r\x1b[K" + line // in the place of the progress of a push
		}
		p.Progressf("%s", line)
	}
}

// Steps prints the steps of an operation. At a terminal, the last line is what the operation waits for.
type Steps struct {
	*Printer
	open bool
}

// Report prints a step.
func (p *Steps) Report(e olm.Event) {
	if p.Quiet {
		return
	}
	const clear = "\r\x1b[K"
	inPlace := p.ErrTerminal && !p.Dumb()
	if inPlace && p.open {
		fmt.Fprint(p.Err, clear)
	}
	if p.open = inPlace && e.Waiting; p.open {
		fmt.Fprint(p.Err, diag.EscapeLine(e.Message))
		return
	}
	p.Progress(e.Message)
}

// End completes the last line.
func (p *Steps) End() {
	if p.open {
		fmt.Fprintln(p.Err)
		p.open = false
	}
}

// Transport is HTTP with limits on the time that servers may take. It reports what it waits for.
func (p *Printer) Transport() http.RoundTripper {
	return &transport.Transport{Base: p.HTTP, Notify: p.Waiting()}
}
