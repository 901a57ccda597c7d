package watches

// The values of Watch.CRDs, as in Flux, but with a small first letter.
const (
	// CRDsCreate creates missing CRDs.
	CRDsCreate = "create"
	// CRDsCreateReplace creates missing CRDs and updates others.
	CRDsCreateReplace = "createReplace"
	// CRDsSkip leaves CRDs to others.
	CRDsSkip = "skip"
)
