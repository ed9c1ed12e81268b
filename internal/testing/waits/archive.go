package main

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"time"

	gofeed "github.com/mmcdole/gofeed/atom"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

var archiveRows = []row{
	{"archive", "a feed archive of 500 documents with 100 entries each, with their contents, into SQLite", (*comparison).archive},
}

// archive compares first harvests of an archived feed.
func (b *comparison) archive() {
	s := newSite()
	defer s.Close()
	s.addArchive(500, 100)
	sides := b.programs(func(of binaries, dir string) side {
		return side{prepare: func() { empty(dir) }, command: func() *exec.Cmd {
			return exec.Command(of.websync, "harvest", "-protocol", "atom", "-rate", "1000000", "-store", "sqlite:"+dir+"/store.db", s.URL+"/feed")
		}}
	})
	table := b.folder("table")
	b.compare(append(sides, side{name: "gofeed and a table", prepare: func() { empty(table) },
		command: func() *exec.Cmd { return peer("feedtable", s.URL+"/feed", table+"/table.db") }})...)
}

// addArchive adds an archived feed (RFC 5005 §4) at /feed.
func (s *site) addArchive(documents, entries int) {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the council adopts this regulation on behalf of every member état für Öffentlichkeit & <law> of 2024")
	text := func(least, more int) string {
		var b strings.Builder
		for range least + r.IntN(more) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		return html.EscapeString(strings.TrimSpace(b.String()))
	}
	for n := range documents {
		var b strings.Builder
		at := changed.Add(time.Duration(n*entries) * time.Minute)
		b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0">` +
			"\n<id>tag:example.org,2026:feed</id><title>Register</title><author><name>Registry</name></author>")
		fmt.Fprintf(&b, "<updated>%s</updated>\n", at.Format(time.RFC3339))
		path := fmt.Sprintf("/archive/%d", n)
		if n == documents-1 {
			path = "/feed"
		} else {
			b.WriteString("<fh:archive/>\n")
		}
		if n > 0 {
			fmt.Fprintf(&b, "<link rel=\"prev-archive\" href=\"%s/archive/%d\"/>\n", s.URL, n-1)
		}
		for i := entries - 1; i >= 0; i-- {
			k := n*entries + i
			fmt.Fprintf(&b, "<entry>\n  <id>tag:example.org,2026:register/%d</id>\n  <title>%s</title>\n  <updated>%s</updated>\n", k, text(3, 8),
				at.Add(time.Duration(i)*time.Minute).Format(time.RFC3339))
			fmt.Fprintf(&b, "  <link rel=\"alternate\" type=\"text/html\" href=\"https://www.example.org/register/%d?lang=sv&amp;form=full\"/>\n", k)
			fmt.Fprintf(&b, "  <content type=\"html\">&lt;p&gt;%s&lt;/p&gt;</content>\n</entry>\n", text(20, 100))
		}
		b.WriteString("</feed>\n")
		s.documents[path] = []byte(b.String())
	}
}

// feedTable gets the documents of an archived feed, parses them with gofeed, and writes
// their entries to a table, a transaction for each document.
func feedTable(args []string) (err error) {
	db, err := sqlite.OpenConn(args[1])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// with a write-ahead log and a sync for each transaction: the defaults
	err = sqlitex.ExecuteTransient(db, `CREATE TABLE entry(id TEXT PRIMARY KEY, updated TEXT, title TEXT, links TEXT, content TEXT)`, nil)
	for url := args[0]; url != "" && err == nil; {
		url, err = tableDocument(db, url)
	}
	return err
}

// tableDocument writes the entries of a document, and returns the URL of the one before.
func tableDocument(db *sqlite.Conn, url string) (previous string, err error) {
	resp, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	feed, err := new(gofeed.Parser).Parse(resp.Body)
	if err != nil {
		return "", err
	}
	defer sqlitex.Transaction(db)(&err)
	for _, e := range feed.Entries {
		var links strings.Builder
		for _, l := range e.Links {
			fmt.Fprintf(&links, "%s %s %s\n", cmp.Or(l.Rel, "alternate"), l.Type, l.Href)
		}
		err = sqlitex.Execute(db, `INSERT INTO entry VALUES(?, ?, ?, ?, ?)
			ON CONFLICT(id) DO UPDATE SET updated=excluded.updated, title=excluded.title, links=excluded.links, content=excluded.content
			WHERE excluded.updated > updated`,
			&sqlitex.ExecOptions{Args: []any{e.ID, e.Updated, e.Title, links.String(), e.Content.Value}})
		if err != nil {
			return "", err
		}
	}
	for _, l := range feed.Links {
		if l.Rel == "prev-archive" {
			previous = l.Href
		}
	}
	return previous, nil
}
