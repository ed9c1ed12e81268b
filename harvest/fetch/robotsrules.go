package fetch

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/websync-go/websync/internal/outgoing"
	"github.com/websync-go/websync/internal/syntax"
)

const (
	robotsBytes   = 500 << 10   // of a robots.txt are read, RFC 9309 §2.5
	crawlDelayCap = time.Minute // a longer Crawl-delay counts as this
)

// robotsRules are the rules of a robots.txt (RFC 9309) for one user agent. The zero value
// allows everything.
type robotsRules struct {
	crawlDelay time.Duration // between two requests, at most a minute; 0: not stated
	rules      []robotsRule
}

// A robotsRule is a line of a robots.txt.
type robotsRule struct {
	line  int // from 1
	allow bool
	path  string // as written

	parts []string // the canonical path, split at its asterisks
	end   bool     // the path ends in "$": it must match to the end
	size  int      // in octets: the longest match decides
}

// String returns the rule as a line, for example "Disallow: /private". It escapes control
// characters and cuts the path after 100 bytes.
func (r *robotsRule) String() string {
	path := fmt.Sprintf("%.100q", r.path)
	path = strings.ReplaceAll(path[1:len(path)-1], `\"`, `"`)
	if r.allow {
		return "Allow: " + path
	}
	return "Disallow: " + path
}

// parseRobots parses a robots.txt for the user agent with the given product token. There
// are no errors: it skips what it does not understand. It reads the first 500 KiB.
func parseRobots(text, token string) *robotsRules {
	if len(text) > robotsBytes { // without the line that the limit cuts
		text = text[:strings.LastIndexAny(text[:robotsBytes+1], "\r\n")+1]
	}
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	p := robotsParser{token: token}
	for line := range strings.SplitSeq(text, "\n") {
		p.parse(line)
	}
	if p.named {
		return &p.own
	}
	return &p.others
}

// A robotsParser parses a robots.txt line by line. The groups of one user agent are
// merged (RFC 9309 §2.2.1).
type robotsParser struct {
	token  string
	own    robotsRules // of the groups that name the token
	others robotsRules // of the groups for "*"
	named  bool        // a group names the token
	line   int

	// The current group.
	open  bool           // it has no rules yet: another User-agent line belongs to it
	rules []*robotsRules // what its rules are added to: own, others, both or none
	delay time.Duration  // its Crawl-delay
}

func (p *robotsParser) parse(line string) {
	p.line++
	line, _, _ = strings.Cut(line, "#")
	key, value, ok := strings.Cut(line, ":")
	if !ok {
		return
	}
	key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
	switch key {
	case "user-agent":
		p.agent(value)
	case "allow", "disallow":
		p.rule(value, key == "allow")
	case "crawl-delay":
		// It is another record (RFC 9309 §2.2.4): it ends no list of user agents, and it
		// is valid for all agents of its group, also for those that follow it.
		if d, ok := outgoing.Seconds(value); ok {
			p.delay = max(p.delay, min(d, crawlDelayCap))
			p.pace()
		}
	}
}

func (p *robotsParser) agent(name string) {
	if !p.open {
		p.open, p.rules, p.delay = true, nil, 0
	}
	if name == "*" {
		p.rules = append(p.rules, &p.others)
	} else if token := productToken(name); token != "" && strings.EqualFold(token, p.token) {
		p.rules, p.named = append(p.rules, &p.own), true
	}
	p.pace()
}

func (p *robotsParser) rule(path string, allow bool) {
	p.open = false
	if path == "" {
		return // "Disallow:" forbids nothing
	}
	r := newRobotsRule(p.line, allow, path)
	for _, g := range p.rules {
		g.rules = append(g.rules, r)
	}
}

func (p *robotsParser) pace() {
	for _, g := range p.rules {
		g.crawlDelay = max(g.crawlDelay, p.delay)
	}
}

// productToken returns the name at the beginning of a user agent (RFC 9309 §2.2.1).
func productToken(agent string) string {
	rest := strings.TrimLeftFunc(agent, func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
	})
	return agent[:len(agent)-len(rest)]
}

// agentToken returns the product token of a User-Agent header: its first name, or, if
// that is the "Mozilla" of all browsers, the name after "compatible".
func agentToken(agent string) string {
	token := productToken(agent)
	if !strings.EqualFold(token, "Mozilla") {
		return token
	}
	_, name, _ := strings.Cut(strings.ToLower(agent), "(compatible;")
	if name = productToken(strings.TrimSpace(name)); name != "" {
		return name
	}
	return token
}

func newRobotsRule(line int, allow bool, path string) robotsRule {
	r := robotsRule{line: line, allow: allow, path: path, size: strings.Count(path, "*")}
	if path, r.end = strings.CutSuffix(path, "$"); r.end {
		r.size++
	}
	within := inPath
	for part := range strings.SplitSeq(path, "*") {
		part, within = canonical(part, within)
		r.parts = append(r.parts, part)
		r.size += len(part)
	}
	return r
}

// match returns the rule that decides about u, or nil if no rule matches, which allows u.
// Only path and query of u count. The longest match decides, and between equals Allow
// (RFC 9309 §2.2.2).
func (r *robotsRules) match(u *url.URL) (best *robotsRule) {
	target := u.EscapedPath()
	if len(r.rules) == 0 || target == "/robots.txt" {
		return nil
	}
	if target == "" {
		target = "/"
	}
	if u.RawQuery != "" || u.ForceQuery {
		target += "?" + u.RawQuery
	}
	target, _ = canonical(target, inPath)
	for i := range r.rules {
		rule := &r.rules[i]
		longer := best == nil || rule.size > best.size || rule.size == best.size && rule.allow && !best.allow
		if longer && rule.matches(target) {
			best = rule
		}
	}
	return best
}

// matches reports whether the rule matches the beginning of target or, with a "$", all of
// it.
func (r *robotsRule) matches(target string) bool {
	rest, ok := strings.CutPrefix(target, r.parts[0])
	if !ok {
		return false
	}
	last := len(r.parts) - 1
	if last == 0 {
		return !r.end || rest == ""
	}
	for _, part := range r.parts[1:last] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	if r.end {
		return strings.HasSuffix(rest, r.parts[last])
	}
	return strings.Contains(rest, r.parts[last])
}

// A component is a part of a URL.
type component byte

const (
	inPath component = iota
	inQuery
)

// delimiters are those that stay in a component.
var delimiters = [...]string{inPath: "/?", inQuery: "=&"}

// canonical returns the same string for paths and queries with the same meaning: the
// "path to match" of RFC 9309 §2.2.2, in which unreserved octets stand for themselves and
// all others are percent-encoded. Only delimiters that act as delimiters stay: the slash,
// the first question mark, and in a query "=" and "&". s begins within a component; the
// second result is the one in which it ends.
func canonical(s string, within component) (string, component) {
	b := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if strings.IndexByte(delimiters[within], c) >= 0 {
			if c == '?' {
				within = inQuery
			}
			b = append(b, c)
			continue
		}
		if octet, ok := syntax.Escaped(s, i); ok {
			c = octet
			i += 2
		}
		if syntax.Unreserved.Has(c) {
			b = append(b, c)
		} else {
			b = syntax.AppendEscape(b, c)
		}
	}
	return string(b), within
}
