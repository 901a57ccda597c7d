package hostile

import "golang.org/x/sys/unix"

// systemCall returns the number and the arguments of the system call at which a thread has stopped.
func systemCall(r *unix.PtraceRegs) (number uint64, arguments [6]uint64) {
	return r.Regs[8], [6]uint64(r.Regs[:6])
}
