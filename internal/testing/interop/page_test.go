package interop

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestPage lets others read what is published, harvests what they write, and compares
// docs/clients.md with what has arrived.
func TestPage(t *testing.T) {
	install(t)
	p := &page{cells: map[string]string{}}
	t.Run("clients", p.clients)
	t.Run("generators", p.generators)
	p.WriteString(head)
	for _, k := range kinds {
		var columns []string
		for _, d := range k.documents {
			columns = append(columns, d.protocol)
		}
		p.table(t, k.name, columns, k.tools)
	}
	p.WriteString(middle)
	for _, f := range families {
		var columns []string
		for _, format := range f.formats {
			columns = append(columns, format.name)
		}
		p.table(t, f.name, columns, f.tools)
	}
	testkit.Golden(t, filepath.Join("..", "..", "..", "docs", "clients.md"), []byte(p.String()))
}

// A page is docs/clients.md.
type page struct {
	strings.Builder
	mu    sync.Mutex
	cells map[string]string
}

func (p *page) set(table string, c tool, column, cell string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cells[table+c.script+column] = cell
}

func (p *page) table(t *testing.T, name string, columns []string, tools []tool) {
	line := strings.Repeat("|---", len(columns))
	fmt.Fprintf(p, "\n### %s\n\n| | version | %s |\n|---|---%s|\n", name, strings.Join(columns, " | "), line)
	var notes []string
	for _, c := range tools {
		fmt.Fprintf(p, "| %s | %s |", c.name, c.version(t))
		for _, column := range columns {
			fmt.Fprintf(p, " %s |", cmp.Or(p.cells[name+c.script+column], "–"))
		}
		p.WriteString("\n")
		for _, field := range slices.Sorted(maps.Keys(c.differs)) {
			notes = append(notes, fmt.Sprintf("- **%s**, %s: %s\n", c.name, field, c.differs[field]))
		}
	}
	if len(notes) > 0 {
		p.WriteString("\n" + strings.Join(notes, ""))
	}
}

const head = `# Clients and generators of others

This page is made by tests that run these programs and libraries: internal/testing/interop. Versions of Debian's packages have
two numbers.

## What clients read

A small set of resources is published by each protocol, with deletions, with "&", "<" and letters of several languages in texts
and addresses, and with times of several precisions. A cell says what a client does not hand on, or not as it is published; where
that is not for want of a field in the client, a note below the table says why. No client has read a resource that was deleted.

"again" is a second request, which transfers nothing if the body has not changed.
`

const middle = `
## What generators write

Each generator lists a small set of resources, which is harvested with default settings, feeds with anyfeed.Parse as the Parser.
A cell says what the format or the generator does not state.
`
