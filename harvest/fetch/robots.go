package fetch

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/websync-go/websync/internal/outgoing"
	"github.com/websync-go/websync/internal/syntax"
)

const (
	robotsBytes   = 500 << 10   // that are read, RFC 9309 §2.5
	crawlDelayCap = time.Minute // what is longer counts as this
)

// robotsRules are the rules of a robots.txt (RFC 9309) for one user agent. The zero value
// allows everything.
type robotsRules struct {
	CrawlDelay time.Duration // between two requests, at most a minute; 0: not stated
	rules      []pattern
}

// A robotsRule is a line of a robots.txt.
type robotsRule struct {
	Line  int // from 1; 0: no rule
	Allow bool
	Path  string // as written
}

// String returns the rule as a line, for example "Disallow: /private". It escapes control
// characters and cuts the path after 100 bytes.
func (r robotsRule) String() string {
	path := fmt.Sprintf("%.100q", r.Path)
	path = strings.ReplaceAll(path[1:len(path)-1], `\"`, `"`)
	if r.Allow {
		return "Allow: " + path
	}
	return "Disallow: " + path
}

// A pattern is a robotsRule prepared for comparison.
type pattern struct {
	robotsRule
	parts []string // what stands between the asterisks
	end   bool     // nothing may follow
	size  int      // octets: the rule with the most wins
}

// parseRobots reads a robots.txt as the user agent with the given product token does.
// There are no errors: what can't be understood is skipped. It reads the first 500 KiB.
func parseRobots(text []byte, token string) *robotsRules {
	p := robotsParser{token: token, own: &robotsRules{}, others: &robotsRules{}}
	if len(text) > robotsBytes {
		// a rule cut short would mean another thing
		text = text[:bytes.LastIndexAny(text[:robotsBytes+1], "\r\n")+1]
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for line := 1; len(text) > 0; line++ {
		n, end := len(text), len(text)
		if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
			n, end = i, i+1
			if text[i] == '\r' && end < len(text) && text[end] == '\n' {
				end++
			}
		}
		p.line(line, string(text[:n]))
		text = text[end:]
	}
	if p.named {
		p.others = p.own
	}
	return p.others
}

// A robotsParser reads line by line. Groups for the same user agent are one (RFC 9309
// §2.2.1).
type robotsParser struct {
	token  string
	own    *robotsRules // of the groups that name the token
	others *robotsRules // of the groups for *
	named  bool         // there is a group that names the token

	// the group at hand has no rules yet: another User-agent line belongs to it
	agents           bool
	forUs, forOthers bool          // what it is for
	gap              time.Duration // its Crawl-delay
}

func (p *robotsParser) line(n int, text string) {
	text, _, _ = strings.Cut(text, "#")
	key, value, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "user-agent":
		p.agent(value)
	case "allow":
		p.rule(robotsRule{n, true, value})
	case "disallow":
		p.rule(robotsRule{n, false, value})
	case "crawl-delay":
		p.delay(value)
	}
}

func (p *robotsParser) agent(value string) {
	if !p.agents {
		p.agents, p.forUs, p.forOthers, p.gap = true, false, false, 0
	}
	if value == "*" {
		p.forOthers = true
	} else if token := productToken(value); token != "" && strings.EqualFold(token, p.token) {
		p.forUs, p.named = true, true
	}
	p.pace()
}

// groups calls f for what the group at hand is for.
func (p *robotsParser) groups(f func(*robotsRules)) {
	if p.forUs {
		f(p.own)
	}
	if p.forOthers {
		f(p.others)
	}
}

func (p *robotsParser) rule(r robotsRule) {
	p.agents = false
	if r.Path == "" {
		return // "Disallow:" forbids nothing
	}
	p.groups(func(g *robotsRules) { g.rules = append(g.rules, newPattern(r)) })
}

// delay reads a Crawl-delay. It is another record (RFC 9309 §2.2.4): it ends nothing, and
// it holds for all agents of its group, those that follow it, too.
func (p *robotsParser) delay(value string) {
	if d, ok := outgoing.Seconds(value); ok {
		p.gap = max(p.gap, min(d, crawlDelayCap))
		p.pace()
	}
}

func (p *robotsParser) pace() {
	p.groups(func(g *robotsRules) { g.CrawlDelay = max(g.CrawlDelay, p.gap) })
}

// productToken returns the name at the beginning of a user agent (RFC 9309 §2.2.1).
func productToken(agent string) string {
	for i, c := range []byte(agent) {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if c != '-' && c != '_' {
				return agent[:i]
			}
		}
	}
	return agent
}

// agentToken returns the product token of who sends the User-Agent header: its first
// name. Where that is the one that all browsers have, the name that follows "compatible"
// is meant.
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

func newPattern(r robotsRule) pattern {
	path, end := strings.CutSuffix(r.Path, "$")
	p := pattern{robotsRule: r, end: end, size: strings.Count(r.Path, "*")}
	if end {
		p.size++
	}
	inQuery := false
	for part := range strings.SplitSeq(path, "*") {
		part, inQuery = canonical(part, inQuery)
		p.parts = append(p.parts, part)
		p.size += len(part)
	}
	return p
}

// Allowed reports whether u may be fetched, and the rule that says so; none, if no rule
// matches. Only path and query of u count. The longest match decides, and between equals
// Allow (RFC 9309 §2.2.2).
func (r *robotsRules) Allowed(u *url.URL) (bool, robotsRule) {
	target := u.EscapedPath()
	if target == "" {
		target = "/"
	}
	if target == "/robots.txt" {
		return true, robotsRule{}
	}
	if len(r.rules) == 0 {
		return true, robotsRule{}
	}
	if u.RawQuery != "" || u.ForceQuery {
		target += "?" + u.RawQuery
	}
	target, _ = canonical(target, false)
	best := &pattern{robotsRule: robotsRule{Allow: true}, size: -1}
	for i := range r.rules {
		p := &r.rules[i]
		if (p.size > best.size || p.size == best.size && p.Allow && !best.Allow) && p.matches(target) {
			best = p
		}
	}
	return best.Allow, best.robotsRule
}

// matches reports whether the pattern stands at the beginning of target, or for all of
// it.
func (p *pattern) matches(target string) bool {
	rest, ok := strings.CutPrefix(target, p.parts[0])
	if !ok {
		return false
	}
	last := len(p.parts) - 1
	if last == 0 {
		return !p.end || rest == ""
	}
	for _, part := range p.parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	if p.end {
		return strings.HasSuffix(rest, p.parts[last])
	}
	return strings.Contains(rest, p.parts[last])
}

// canonical makes paths and queries that mean the same the same string, which is the path
// to match of RFC 9309 §2.2.2: octets that are not reserved stand for themselves, and all
// others are percent-encoded. Only the delimiters that do their work stay: slash, the
// first question mark, and in the query what separates its parameters. inQuery says that
// s belongs to a query, or, as a result, that it ends in one.
func canonical(s string, inQuery bool) (string, bool) {
	plain := 0
	for plain < len(s) && stays(s[plain], inQuery) {
		inQuery = inQuery || s[plain] == '?'
		plain++
	}
	if plain == len(s) {
		return s, inQuery
	}
	b := append(make([]byte, 0, len(s)+16), s[:plain]...)
	for i := plain; i < len(s); i++ {
		c := s[i]
		if stays(c, inQuery) {
			inQuery = inQuery || c == '?'
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
	return string(b), inQuery
}

// stays reports whether an octet that is not percent-encoded stays as it is.
func stays(c byte, inQuery bool) bool {
	if inQuery {
		return syntax.Unreserved.Has(c) || c == '=' || c == '&'
	}
	return syntax.Unreserved.Has(c) || c == '/' || c == '?'
}
