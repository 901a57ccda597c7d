package validate

func (c *content) checkRules(o Options) []Finding { return nil }
