package sourcetest

import (
	"maps"
	"net/url"
)

// A Site is what a publisher serves at one moment: documents by URL. What is not in it is
// answered with 404.
type Site map[string]Document

// A Document is what a Site has at one URL.
type Document struct {
	// Body is what comes with status 200.
	Body string

	// Status of the answer. 0: 200. Every other one is an error of the Fetcher.
	Status int

	// Header of the answer, by canonical names: Content-Type, Date and so on.
	Header map[string][]string

	// ETag, with its quotes, and LastModified are sent along and make conditional
	// requests possible. Empty: not sent.
	ETag, LastModified string

	// Location, if set, is the URL that is answered instead; it may be relative.
	Location string

	// Broken: the connection breaks off after Body, which is not all of it.
	Broken bool

	// Err, if set, is the answer.
	Err error
}

// find follows redirects from address and returns the URL at the end of them, and what is
// there.
func (s Site) find(address string, doc Document) (string, Document, error) {
	for range 10 {
		if doc.Location == "" {
			return address, doc, nil
		}
		base, err := url.Parse(address)
		if err != nil {
			return address, doc, err
		}
		next, err := base.Parse(doc.Location)
		if err != nil {
			return address, doc, err
		}
		address = next.String()
		doc = s.at(address)
	}
	return address, doc, errRedirects
}

// at returns what is at a URL, before redirects.
func (s Site) at(address string) Document {
	if doc, ok := s[address]; ok {
		return doc
	}
	return Document{Status: 404}
}

// header returns a copy of the header, complete.
func (d *Document) header() map[string][]string {
	h := map[string][]string{}
	maps.Copy(h, d.Header)
	if d.ETag != "" {
		h["Etag"] = []string{d.ETag}
	}
	if d.LastModified != "" {
		h["Last-Modified"] = []string{d.LastModified}
	}
	return h
}

// A Failure is a way in which the answer for a document can fail.
type Failure uint8

const (
	NotThere    Failure = iota // status 404
	ServerError                // status 500
	NoAnswer                   // no connection, this time
	Broken                     // the connection breaks off half-way
	Cut                        // status 200, and only the first half, as if it were all
	Empty                      // status 200 without a byte
	LoginPage                  // status 200 with an HTML page
	Redirected                 // a redirect to another document that the pass reads
	// status 200 with the bytes of another document that the pass reads
	Mistaken

	numFailures
)

var failures = [numFailures]string{"404", "500", "no answer", "broken connection", "cut in half", "empty", "login page", "redirected to another document",
	"another document's bytes"}

var everyFailure = []Failure{NotThere, ServerError, NoAnswer, Broken, Cut, Empty, LoginPage, Redirected, Mistaken}

// String returns the failure in a few words.
func (f Failure) String() string { return failures[f] }

// of returns the answer that replaces a document. Other is where the site has another
// one.
func (f Failure) of(d Document, site Site, other string) Document {
	half := Document{Body: d.Body[:len(d.Body)/2], Header: d.Header}
	switch f {
	case NotThere:
		return Document{Status: 404}
	case ServerError:
		return Document{Status: 500}
	case NoAnswer:
		return Document{Err: errNoAnswer}
	case Broken:
		half.Broken = true
		return half
	case Cut:
		return half
	case Empty:
		return Document{Header: d.Header}
	case Redirected:
		return Document{Location: other}
	case Mistaken:
		return site.at(other)
	}
	return Document{Body: loginPage, Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}}}
}

const loginPage = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in</title><link rel="stylesheet" href="/style.css"></head>
<body><h1>Sign in</h1><p>Your session has ended. <a href="https://example.com/help">Help</a></p>
<form method="post" action="/login"><input name="user"><input name="password" type="password"><br><button>Go</button></form>
</body></html>
`
