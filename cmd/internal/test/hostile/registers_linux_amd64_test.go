package hostile

import "golang.org/x/sys/unix"

// systemCall returns the number and the arguments of the system call at which a thread has stopped.
func systemCall(r *unix.PtraceRegs) (number uint64, arguments [6]uint64) {
	return r.Orig_rax, [6]uint64{r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9}
}
