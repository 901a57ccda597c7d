package diag

// IsUsage reports whether err was caused by user input: by the command line, or by a name or value that is invalid or does not
// fit the project. It looks for an error in the tree of err with a method UsageError that returns true.
func IsUsage(err error) bool {
	if usage, ok := err.(interface{ UsageError() bool }); ok && usage.UsageError() {
		return true
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return IsUsage(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range err.Unwrap() {
			if IsUsage(part) {
				return true
			}
		}
	}
	return false
}

// Usage returns err as an error for which IsUsage is true.
func Usage(err error) error { return usageError{err} }

type usageError struct{ error }

func (usageError) UsageError() bool { return true }
func (e usageError) Unwrap() error  { return e.error }
