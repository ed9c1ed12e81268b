package resourcesync

// order compares an entry with the one before.
func (c *checker) order(e *Entry) {
	m, f := &e.Metadata, c.form
	at := m.From
	if f.changes {
		at = m.Datetime
	}
	switch {
	case at.Before(c.last) && f.packages:
		c.report(ruleOrderPackages, onMetadata, at.String(), "a package before begins at "+c.last.String())
	case at.Before(c.last):
		c.report(ruleOrder, onMetadata, at.String(), "an entry before has "+c.last.String())
	case f.changes && c.last.IsZero() && at.IsZero() && e.LastMod.Before(c.lastMod):
		c.report(ruleOrderLastMod, onEntry, e.LastMod.String(), "the entry before has "+c.lastMod.String())
	}
	if f.index {
		c.follows(m)
	}
}

// follows checks that the interval of a document of an index follows the one before.
func (c *checker) follows(m *Metadata) {
	if c.isOpen {
		c.report(ruleUntilMissing, onEntry, "", "only the last document may be without until, but the one before is")
	}
	if m.Until.IsZero() && !m.From.IsZero() && !c.head.Metadata.Until.IsZero() && !c.stated(m.Faulty, "until") {
		c.report(ruleUntilMissing, onMetadata, "", "a document without until in an index that has one")
	}
	if m.From.After(c.until) {
		c.report(ruleGap, onMetadata, m.From.String(), "the document before ends at "+c.until.String())
	}
}
