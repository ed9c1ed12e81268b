package atompmh

import (
	"fmt"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// checkFormats returns what is wrong with Source.Formats.
func checkFormats(formats []string) error {
	for _, f := range formats {
		if fault := syntax.MediaTypeFault(f); fault != "" {
			return fmt.Errorf("atompmh: Source.Formats has %q: %s", f, fault)
		}
	}
	return nil
}

// choose returns the alternate links of wanted formats, the best first and each target
// once.
func (s *Source) choose(links []websync.Link) (chosen []websync.Link) {
	formats := s.Formats
	if len(formats) == 0 {
		formats = []string{"*/*"}
	}
	all := alternates(links)
	for _, f := range formats {
		for _, l := range all {
			known := func(other websync.Link) bool { return other.Href == l.Href }
			if (f == "*/*" || syntax.IsOfType(l.Type, f)) && !slices.ContainsFunc(chosen, known) {
				chosen = append(chosen, l)
			}
		}
	}
	return chosen
}
