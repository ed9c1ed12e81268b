package anyfeed

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

func TestParsePerson(t *testing.T) {
	tests := []struct {
		text string
		want websync.Person
	}{
		{"", websync.Person{}},
		{" Ann ", websync.Person{Name: "Ann"}},
		{"ann@example.org", websync.Person{Email: "ann@example.org"}},
		{"ann@example.org (Ann)", websync.Person{Name: "Ann", Email: "ann@example.org"}},
		{"Ann (ann@example.org)", websync.Person{Name: "Ann", Email: "ann@example.org"}},
		{"Ann <ann@example.org>", websync.Person{Name: "Ann", Email: "ann@example.org"}},
		{"<ann@example.org>", websync.Person{Email: "ann@example.org"}},
		{"Ann (of Example)", websync.Person{Name: "Ann (of Example)"}},
		{"@ann", websync.Person{Name: "@ann"}},
		{"Ann <", websync.Person{Name: "Ann <"}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) { assert.Equal(t, tt.want, parsePerson(tt.text)) })
	}
}

func TestTextType(t *testing.T) {
	tests := []struct{ name, typ, mode, want string }{
		{"nothing", "", "", atom.PlainText},
		{"Atom 1.0 text", "text", "", atom.PlainText},
		{"Atom 1.0 html", "HTML", "", atom.HTML},
		{"Atom 1.0 xhtml", "xhtml", "", atom.HTML},
		{"Atom 0.3 plain", "text/plain", "xml", atom.PlainText},
		{"Atom 0.3 escaped", "text/html", "escaped", atom.HTML},
		{"Atom 0.3 escaped, of no type", "", "escaped", atom.HTML},
		{"a media type", "image/png", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, textType(tt.typ, tt.mode)) })
	}
}
