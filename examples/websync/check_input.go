package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// An input is one file or URL of the command line, ready to be read twice.
type input struct {
	name        string // as the user gave it
	root        string // the name, or -url, if it is a URL: only its host may have a private address
	url         string // where it is published, after redirects; empty if that is not known
	aliases     []string
	contentType string       // of the answer
	kind        sitemap.Kind // 0 if not a sitemap
	feed        bool         // to be checked as a feed
	// checks a feed that is not Atom
	validate func(io.Reader, atom.ValidateOptions) (atom.Summary, error)
	// to be checked as a document of ResourceSync
	resourceSync bool
	data         io.ReadSeeker
	modified     time.Time // Last-Modified of the answer
	err          error     // set if it cannot be read
	release      []func() error
}

// open opens an input and detects what it is.
func (p *checkCommand) open(ctx context.Context, name string) *input {
	in := &input{name: name}
	switch {
	case isURL(name):
		in.root = name
		in.err = in.fetch(ctx, p.client)
	case name == "-":
		in.err = in.spool(p.stdin)
	default:
		in.err = in.openFile()
	}
	if p.url != "" && !isURL(name) {
		in.root, in.url = p.url, p.url
	}
	if in.err == nil {
		in.err = in.look(p.spec)
	}
	return in
}

func isURL(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

func (in *input) fetch(ctx context.Context, client harvest.Fetcher) error {
	resp, err := client.Fetch(ctx, &harvest.Request{URL: in.name, Root: in.root, Spool: true})
	if err != nil {
		return err
	}
	in.release = append(in.release, resp.Body.Close)
	in.url, in.contentType = resp.URL, docfetch.ContentType(resp.Header)
	if values := resp.Header["Last-Modified"]; len(values) > 0 {
		in.modified, _ = http.ParseTime(values[0]) // zero if it is no date
	}
	if in.url != in.name {
		in.aliases = append(in.aliases, in.name)
	}
	data, ok := resp.Body.(io.ReadSeeker)
	if !ok {
		return in.spool(resp.Body)
	}
	in.data = data
	return nil
}

func (in *input) openFile() error {
	f, err := os.Open(in.name)
	if err != nil {
		return withoutName(err)
	}
	in.release = append(in.release, f.Close)
	info, err := f.Stat()
	switch {
	case err != nil:
		return withoutName(err)
	case info.IsDir():
		return errors.New("a directory")
	case !info.Mode().IsRegular():
		return in.spool(f)
	}
	in.data = f
	return nil
}

// withoutName removes the name of the file, which begins the message anyway.
func withoutName(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// spool holds what can be read only once.
func (in *input) spool(src io.Reader) error {
	s, err := spool.Read(src, 0)
	if err != nil {
		return withoutName(err)
	}
	in.release = append(in.release, s.Close)
	in.data = s
	return nil
}

func (in *input) close() {
	for _, release := range in.release {
		release() // an error loses nothing
	}
}

// start returns the bytes from the start.
func (in *input) start() (io.Reader, error) {
	_, err := in.data.Seek(0, io.SeekStart)
	return in.data, err
}

// look detects the kind of the input.
func (in *input) look(spec string) error {
	if in.validate = otherFeeds[spec]; in.validate != nil || slices.Contains([]string{"atom", "atompmh", "rinfo"}, spec) {
		in.feed = true
		return nil
	}
	src, err := in.start()
	if err != nil {
		return err
	}
	r := sitemap.NewReader(src)
	_, err = r.NextView()
	in.kind = r.Kind()
	in.resourceSync = spec == "resourcesync" || spec == "auto" && isResourceSync(r)
	if (spec == "auto" || spec == "eli") && errors.Is(err, websync.ErrNotDocument) {
		for _, validate := range otherFeeds {
			if in.isFor(validate) {
				in.validate = validate
			}
		}
		in.feed = in.validate != nil || in.isAtom()
	}
	return nil // Validate reports what is wrong with it
}

// otherFeeds check the documents of a spec. No document is for two of them.
var otherFeeds = map[string]func(io.Reader, atom.ValidateOptions) (atom.Summary, error){
	"jsonfeed": anyfeed.ValidateJSON,
	"rss":      anyfeed.ValidateRSS,
}

// isFor reports whether the input is a document that validate checks.
func (in *input) isFor(validate func(io.Reader, atom.ValidateOptions) (atom.Summary, error)) bool {
	src, err := in.start()
	if err == nil {
		_, err = validate(src, atom.ValidateOptions{})
	}
	return !errors.Is(err, websync.ErrNotDocument)
}

// isAtom reports whether the input is a document of Atom.
func (in *input) isAtom() bool {
	src, err := in.start()
	if err == nil {
		_, err = atom.NewReader(src).Next()
	}
	return !errors.Is(err, websync.ErrNotDocument)
}

// named reports whether the user named a URL of this origin.
func (in *input) named(origin string) bool {
	home, _ := syntax.OriginOf(in.root)
	return in.url != "" && string(home) == origin
}

// is reports whether the input is the document that index lists as loc.
func (in *input) is(index *input, loc string) bool {
	if in.url != "" {
		return loc == in.url || loc == in.name
	}
	if index.url != "" || in == index || filepath.Dir(in.name) != filepath.Dir(index.name) {
		return false
	}
	u, err := url.Parse(loc)
	return err == nil && path.Base(u.Path) == filepath.Base(in.name)
}

// kindOf returns the kind of a document that an index lists, or 0 if the user did not
// name it.
func (p *checkCommand) kindOf(index *input, loc string) sitemap.Kind {
	for _, in := range p.inputs {
		if in.is(index, loc) {
			return in.kind
		}
	}
	return 0
}

// relate adds to each input the named indexes that list it as aliases: a robots.txt may
// name these instead.
func (p *checkCommand) relate() {
	for _, index := range p.inputs {
		if index.kind != sitemap.Index || index.url == "" || len(p.inputs) == 1 {
			continue
		}
		src, err := index.start()
		if err != nil {
			continue
		}
		for e, err := range sitemap.NewReader(src).All() {
			if err != nil {
				break // Validate reports it
			}
			for _, in := range p.inputs {
				if in != index && in.url != "" && in.is(index, e.Loc) {
					in.aliases = append(in.aliases, index.url, index.name)
				}
			}
		}
	}
}
