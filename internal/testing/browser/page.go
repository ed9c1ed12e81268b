package browser

import (
	"encoding/json"
	"fmt"
	"os"
)

// A View is how a page is looked at.
type View struct {
	Width int  // in CSS pixels, of a window that is 800 high
	Dark  bool // the user prefers dark colours
	Print bool // as on paper
}

// Phone, Paper and Desktop are the widths of a small phone, of an A4 page between its
// margins, and of a window on a desk.
const (
	Phone   = 360
	Paper   = 718
	Desktop = 1280
)

// Views are the widths and colours in which every page must be readable.
var Views = []View{{Width: Phone}, {Width: Phone, Dark: true}, {Width: Desktop}, {Width: Desktop, Dark: true}, {Width: Paper, Print: true}}

// String returns, for example, "360 dark".
func (v View) String() string {
	name := fmt.Sprint(v.Width)
	if v.Dark {
		name += " dark"
	}
	if v.Print {
		name += " print"
	}
	return name
}

// A Page is an open page.
type Page struct {
	// Problems are the errors and warnings on the console, uncaught exceptions, and
	// requests that failed or that the page's own policy forbids.
	Problems []string
	// Requests are the URLs that the page has loaded, beside its own.
	Requests []string

	browser *Browser
	session string
	own     string
	loaded  bool
}

// Open opens a URL and waits until the page and what it contains are loaded.
func (b *Browser) Open(url string, v View) *Page {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &Page{browser: b, session: attached.SessionID, own: url}
	b.pages[p.session] = p
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.call(domain+".enable", nil, nil)
	}
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": v.Width, "height": 800, "deviceScaleFactor": 1, "mobile": v.Width <= Phone,
	}, nil)
	media, scheme := "", "light"
	if v.Print {
		media = "print"
	}
	if v.Dark {
		scheme = "dark"
	}
	p.call("Emulation.setEmulatedMedia", map[string]any{
		"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
	p.loaded = false // by about:blank
	p.call("Page.navigate", map[string]any{"url": url}, nil)
	for !p.loaded {
		b.receive()
	}
	return p
}

// event notes an event of the DevTools protocol.
func (p *Page) event(method string, params json.RawMessage) error {
	var e struct {
		Type             string // of a call of console
		Args             []struct{ Value, Description any }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Entry     struct{ Level, Text, URL string }
		Request   struct{ URL string }
		ErrorText string
	}
	if method == "Page.loadEventFired" {
		p.loaded = true
		return nil
	}
	if err := json.Unmarshal(params, &e); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	switch {
	case method == "Runtime.consoleAPICalled" && (e.Type == "error" || e.Type == "warning" || e.Type == "assert"):
		p.Problems = append(p.Problems, fmt.Sprintf("console.%s: %v", e.Type, e.Args))
	case method == "Runtime.exceptionThrown":
		p.Problems = append(p.Problems, e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case method == "Log.entryAdded" && (e.Entry.Level == "error" || e.Entry.Level == "warning"):
		p.Problems = append(p.Problems, e.Entry.Text+" "+e.Entry.URL)
	case method == "Network.loadingFailed":
		p.Problems = append(p.Problems, "request failed: "+e.ErrorText)
	case method == "Network.requestWillBeSent" && e.Request.URL != p.own:
		p.Requests = append(p.Requests, e.Request.URL)
	}
	return nil
}

func (p *Page) call(method string, params, result any) {
	p.browser.t.Helper()
	p.browser.call(p.session, method, params, result)
}

// Eval evaluates a JavaScript expression and decodes its value into result.
func (p *Page) Eval(expression string, result any) {
	t := p.browser.t
	t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	p.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	if e := answer.ExceptionDetails; e != nil {
		t.Fatalf("chromium: %s: %s", expression, e.Exception.Description)
	}
	must(t, json.Unmarshal(answer.Result.Value, result))
}

// Width returns the width of the page's content in CSS pixels, at least that of the
// window: the page scrolls sideways if it is more.
func (p *Page) Width() (width int) {
	p.browser.t.Helper()
	p.Eval("document.documentElement.scrollWidth", &width)
	return width
}

// Screenshot writes a picture of the whole page to a PNG file.
func (p *Page) Screenshot(file string) {
	t := p.browser.t
	t.Helper()
	var picture struct{ Data []byte } // decoded from base64
	p.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &picture)
	must(t, os.WriteFile(file, picture.Data, 0o644))
}
