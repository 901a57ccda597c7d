package modernize

// todaysSuite is today's suite of webhooks with what a person added to one of before; not where a person changed what
// was there.
func (pkg *apiPackage) todaysSuite(f *source, today []byte, p *program) ([]byte, bool) {
	return nil, false
}
