package browser

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var pictures = flag.String("pictures", "", "write pictures of the pages that are opened to this `directory`")

// Readable checks a page that needs nothing but itself, in each of Views: the browser has
// no complaint, the page loads nothing, it does not scroll sideways, and all text is
// large enough and stands out from its background. The flag -pictures writes pictures
// that begin with name.
func Readable(t *testing.T, name string, html []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	must(t, os.WriteFile(file, html, 0o666))
	b := Start(t)
	for _, view := range Views {
		p := b.Open("file://"+file, view)
		if *pictures != "" {
			p.Screenshot(filepath.Join(*pictures, name+" "+view.String()+".png"))
		}
		for _, problem := range p.Problems {
			t.Errorf("%s, %v: %s", name, view, problem)
		}
		for _, url := range p.Requests {
			t.Errorf("%s, %v: the page loads %s", name, view, url)
		}
		if w := p.Width(); w > view.Width {
			t.Errorf("%s, %v: the page is %d pixels wide", name, view, w)
		}
		var faint []string
		p.Eval(faintText, &faint)
		if len(faint) > 0 {
			t.Errorf("%s, %v: text is hard to read:\n%s", name, view, strings.Join(faint, "\n"))
		}
	}
}

// faintText returns the first texts that are smaller than 10.5 pixels (on paper 9), or
// whose contrast is less than that of WCAG 2.2, 1.4.3 (level AA). It opens what is folded
// up.
const faintText = `(() => {
	document.querySelectorAll("details").forEach(d => d.open = true);
	const channels = colour => (colour.match(/[\d.]+/g) || []).map(Number);
	const luminance = c => {
		const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
		return .2126 * r + .7152 * g + .0722 * b;
	};
	const background = e => {
		for (; e; e = e.parentElement) {
			const c = channels(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] === 1) return c;
		}
		return [255, 255, 255];
	};
	const smallest = matchMedia("print").matches ? 9 : 10.5;
	const faint = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node; faint.length < 10 && (node = walker.nextNode());) {
		const e = node.parentElement, text = node.data.trim();
		if (!text || e.closest("svg, style, script") || !e.getClientRects().length) continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize);
		const [a, b] = [luminance(channels(style.color)), luminance(background(e))].sort((x, y) => y - x);
		const contrast = (a + .05) / (b + .05), least = size >= 24 || size >= 18.6 && style.fontWeight >= 700 ? 3 : 4.5;
		if (size < smallest || contrast < least) faint.push(text.slice(0, 60) + ": " + size + " px, contrast " + contrast.toFixed(2));
	}
	return faint;
})()`
