package reshape

func (x *renamer) left() ([]string, error) { return nil, nil }
