package statuspage

// Languages are those that pages speak, by their codes.
func Languages() []string { return []string{"en"} }
