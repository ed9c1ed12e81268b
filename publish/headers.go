package publish

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
)

// The names of the files with the headers of documents, for servers of files.
const (
	nginxHash    = private + "/nginx-hash.conf"
	nginxHTTP    = private + "/nginx-http.conf"
	nginxServer  = private + "/nginx-server.conf"
	apacheConfig = private + "/apache.conf"
	apacheMap    = private + "/apache.map"
)

// A headerSet is the header fields of a document that depend on it. A server may have all
// of them in its configuration: they are printable ASCII without "$".
type headerSet struct{ contentType, encoding, cache, links string }

// plainSet is that of a file of which nothing is known.
var plainSet = headerSet{contentType: "application/octet-stream", cache: revalidate}

// Limits of what the configuration of a server holds. What is beyond has the headers of
// other files with the same suffix.
const (
	maxHeaderSets = 1000
	maxSuffixes   = 100
	maxTwins      = 1000 // files whose names differ only in upper and lower case
	maxTypeText   = 200
	maxLinksText  = 2000
	maxNginxText  = 4000 // of a quoted string; nginx itself allows 4,095 bytes
	maxApacheKey  = 1000 // Apache allows 1,024 bytes in a line
)

// headersOf returns the headers that a Handler sends with a document, without what could
// act in a configuration.
func headersOf(doc *websync.Document) headerSet {
	s := headerSet{contentType: contentType(doc.Type), cache: revalidate}
	if !isConfigText(s.contentType, maxTypeText) {
		s.contentType = plainSet.contentType
	}
	if isTokens(doc.Encoding) && isConfigText(doc.Encoding, maxTypeText) {
		s.encoding = doc.Encoding
	}
	if doc.Final {
		s.cache = forever
	}
	for _, l := range doc.Links {
		l.Href = strings.ReplaceAll(l.Href, "$", "%24")
		more := formatLink(l)
		if s.links != "" && more != "" {
			more = s.links + ", " + more
		}
		if more != "" && isConfigText(more, maxLinksText) {
			s.links = more
		}
	}
	return s
}

// isConfigText reports whether text can be quoted in a configuration: no server has a way
// to quote "$".
func isConfigText(text string, most int) bool {
	return len(text) <= most && isPrintable(text) && !strings.Contains(text, "$")
}

// served holds which file has which headers.
type served struct {
	sets  []headerSet
	known map[headerSet]int // index in sets
	lines spool.File        // of files: number of the set, space, name
	buf   *bufio.Writer     // of lines
}

func newServed() *served {
	s := &served{sets: []headerSet{plainSet}, known: map[headerSet]int{plainSet: 0}}
	s.buf = bufio.NewWriterSize(&s.lines, 64<<10)
	return s
}

// add notes the headers of a file.
func (s *served) add(name string, doc *websync.Document) error {
	set := headersOf(doc)
	n, found := s.known[set]
	if !found && len(s.sets) < maxHeaderSets {
		n = len(s.sets)
		s.known[set], s.sets = n, append(s.sets, set)
	}
	_, err := fmt.Fprintf(s.buf, "%d %s\n", n, name)
	return err
}

// A servedFile is a file and the number of its headers.
type servedFile struct {
	name string
	set  int
}

func (s *served) files() iter.Seq2[servedFile, error] {
	return func(yield func(servedFile, error) bool) {
		lines := bufio.NewScanner(s.lines.Section(spool.Span{Size: s.lines.Size()}))
		for lines.Scan() {
			number, name, _ := strings.Cut(lines.Text(), " ")
			set, err := strconv.Atoi(number)
			if !yield(servedFile{name, set}, err) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(servedFile{}, err)
		}
	}
}

// A headerPlan is what a configuration lists: the headers that most files of a suffix
// have, and the files that have others.
type headerPlan struct {
	*served
	suffixes map[string]int  // and their sets
	twins    map[uint64]bool // hashes of names of which there are several, except for case
	longest  int             // name
	files    int             // that differ from the others of their suffix
}

// suffixOf returns the end of a name from its last dot or tilde on, if up to 16 letters and
// digits follow.
func suffixOf(name string) string {
	const most = 16
	for i := len(name) - 1; i >= 0 && len(name)-1-i <= most; i-- {
		switch c := name[i]; {
		case (c == '.' || c == '~') && i < len(name)-1:
			return name[i:]
		case !syntax.Alnum.Has(c):
			return ""
		}
	}
	return ""
}

// plan chooses the headers of suffixes.
func (s *served) plan() (*headerPlan, error) {
	if err := s.buf.Flush(); err != nil {
		return nil, err
	}
	p := &headerPlan{served: s, suffixes: make(map[string]int), twins: make(map[uint64]bool)}
	counts := make(map[string][]int) // of files, by suffix and set
	var hashes []uint64
	for f, err := range s.files() {
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, foldedHash(f.name))
		suffix := suffixOf(f.name)
		if count := counts[suffix]; count != nil || suffix != "" && len(counts) < maxSuffixes {
			for len(count) <= f.set {
				count = append(count, 0)
			}
			count[f.set]++
			counts[suffix] = count
		}
	}
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] == hashes[i-1] {
			p.twins[hashes[i]] = true
		}
	}
	for suffix, count := range counts {
		p.suffixes[suffix] = slices.Index(count, slices.Max(count))
	}
	for f, err := range p.others() {
		if err != nil {
			return nil, err
		}
		p.longest, p.files = max(p.longest, len(f.name)), p.files+1
	}
	return p, nil
}

// foldedHash returns a hash of a name in lower case, as nginx compares names.
func foldedHash(name string) uint64 {
	sum := sha256.Sum256([]byte(strings.ToLower(name)))
	return binary.BigEndian.Uint64(sum[:])
}

// others yields the files whose headers are not those of their suffix.
func (p *headerPlan) others() iter.Seq2[servedFile, error] {
	return func(yield func(servedFile, error) bool) {
		for f, err := range p.served.files() {
			if err == nil && p.suffixes[suffixOf(f.name)] == f.set {
				continue
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// writeServed writes the configurations of servers.
func (e *export) writeServed() error {
	p, err := e.served.plan()
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(e.tree.root.Name())
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(dir)) // one nginx may serve several exports
	variable := fmt.Sprintf("$websync_%x", sum[:4])
	for _, file := range []struct {
		name  string
		write func(*bufio.Writer) error
	}{
		{nginxHash, p.writeNginxHash},
		{nginxHTTP, func(b *bufio.Writer) error { return p.writeNginxHTTP(b, variable) }},
		{nginxServer, func(b *bufio.Writer) error { return writeNginxServer(b, variable) }},
		{apacheConfig, p.writeApache},
		{apacheMap, p.writeApacheMap},
	} {
		if err := e.writeOwn(file.name, file.write); err != nil {
			return err
		}
	}
	return nil
}

func (p *headerPlan) writeNginxHash(b *bufio.Writer) error {
	size := 64
	for size < p.longest+64 {
		size *= 2
	}
	fmt.Fprintf(b, "# In the block http, once, before the first map.\nmap_hash_bucket_size %d;\nmap_hash_max_size %d;\n",
		size, max(2048, 2*p.files))
	return nil
}

// writeNginxHTTP writes maps from a file to the number of its headers, and from there to
// the headers. nginx ignores case in names, but not in patterns.
func (p *headerPlan) writeNginxHTTP(b *bufio.Writer, variable string) error {
	fmt.Fprintf(b, "# In the block http.\nmap $uri %s {\n\tdefault 0;\n", variable)
	var twins []servedFile
	for f, err := range p.others() {
		if err != nil {
			return err
		}
		key := quoted("/" + f.name)
		if p.twins[foldedHash(f.name)] {
			if len(twins) < maxTwins {
				twins = append(twins, f)
			}
		} else if len(key) <= maxNginxText {
			fmt.Fprintf(b, "\t%s %d;\n", key, f.set)
		}
	}
	for _, f := range twins {
		if key := quoted("~^/" + regexp.QuoteMeta(f.name) + "$"); len(key) <= maxNginxText {
			fmt.Fprintf(b, "\t%s %d;\n", key, f.set)
		}
	}
	for _, suffix := range slices.Sorted(maps.Keys(p.suffixes)) {
		fmt.Fprintf(b, "\t%s %d;\n", quoted(fmt.Sprintf("~[%c]%s$", suffix[0], suffix[1:])), p.suffixes[suffix])
	}
	b.WriteString("}\n")
	for _, field := range headerFields {
		fmt.Fprintf(b, "map %s %s_%s {\n", variable, variable, field.variable)
		for n := range p.sets {
			if value := field.of(&p.sets[n]); value != "" {
				fmt.Fprintf(b, "\t%d %s;\n", n, quoted(value))
			}
		}
		b.WriteString("}\n")
	}
	return nil
}

// headerFields are the fields of a headerSet.
var headerFields = []struct {
	name, variable string
	of             func(*headerSet) string
}{
	{"Content-Type", "type", func(s *headerSet) string { return s.contentType }},
	{"Content-Encoding", "encoding", func(s *headerSet) string { return s.encoding }},
	{"Cache-Control", "cache", func(s *headerSet) string { return s.cache }},
	{"Link", "links", func(s *headerSet) string { return s.links }},
}

func writeNginxServer(b *bufio.Writer, variable string) error {
	b.WriteString("# In the block server.\nindex index.html;\nautoindex off;\ncharset off;\n" +
		"types { }\ndefault_type \"\";\n")
	for _, field := range headerFields {
		fmt.Fprintf(b, "add_header %s %s_%s;\n", field.name, variable, field.variable)
	}
	fmt.Fprintf(b, "add_header X-Content-Type-Options nosniff;\nadd_header Content-Security-Policy %s;\n", quoted(sandbox))
	fmt.Fprintf(b, "location ^~ /%s {\n\treturn 404;\n}\n", private)
	return nil
}

// writeApache writes the headers of each number, and how a file gets its number: by its
// suffix, or by the map.
func (p *headerPlan) writeApache(b *bufio.Writer) error {
	b.WriteString("# In a VirtualHost, after \"Define WEBSYNC directory\" with the directory of the files.\n" +
		"<IfDefine !WEBSYNC_MAP>\n\tDefine WEBSYNC_MAP txt:${WEBSYNC}/" + apacheMap + "\n</IfDefine>\n" +
		"RewriteEngine On\nRewriteMap websync \"${WEBSYNC_MAP}\"\nRewriteMap websyncescape int:escape\n" +
		"RewriteRule \"^/[.]websync(/|$)\" - [NC,R=404,L]\n")
	for _, suffix := range slices.Sorted(maps.Keys(p.suffixes)) {
		fmt.Fprintf(b, "RewriteRule \"[%c]%s$\" - [E=websync:%d]\n", suffix[0], suffix[1:], p.suffixes[suffix])
	}
	b.WriteString("RewriteCond \"${websync:${websyncescape:%{REQUEST_URI}}}\" \"^([0-9]+)$\"\nRewriteRule ^ - [E=websync:%1]\n" +
		"<Location \"/\">\n\tSetHandler default-handler\n\tOptions -Indexes -Includes -ExecCGI -MultiViews\n" +
		"\tDirectoryIndex index.html\n\tRemoveEncoding .gz .tgz .Z .bz2 .xz .br .zst .svgz\n" +
		"\tHeader set X-Content-Type-Options nosniff\n")
	fmt.Fprintf(b, "\tHeader set Content-Security-Policy %s\n", quoted(sandbox))
	for n := range p.sets {
		isSet := fmt.Sprintf("reqenv('websync') == '%d'", n)
		if n == 0 {
			isSet = "reqenv('websync') !~ /^[1-9]/"
		}
		for _, field := range headerFields {
			if value := field.of(&p.sets[n]); value != "" {
				value = strings.NewReplacer("%", "%%", `\`, `\\`).Replace(value) // a format, of which "\n" is a newline
				fmt.Fprintf(b, "\tHeader set %s %s \"expr=%s\"\n", field.name, quoted(value), isSet)
			}
		}
	}
	b.WriteString("</Location>\n")
	return nil
}

// writeApacheMap writes a line for each file whose headers are not those of its suffix.
func (p *headerPlan) writeApacheMap(b *bufio.Writer) error {
	for f, err := range p.others() {
		if err != nil {
			return err
		}
		name := "/" + f.name
		names := []string{name}
		if path.Base(name) == indexFile {
			names = append(names, strings.TrimSuffix(name, indexFile))
		}
		for _, name := range names {
			key := escapeApache(name)
			if len(key) > maxApacheKey {
				continue
			}
			fmt.Fprintf(b, "%s %d\n", key, f.set)
			if escaped := strings.ReplaceAll(key, ";", "%3b"); escaped != key { // as older versions do
				fmt.Fprintf(b, "%s %d\n", escaped, f.set)
			}
		}
	}
	return nil
}

// escapeApache escapes a path as the map "int:escape" of Apache does.
func escapeApache(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if syntax.Alnum.Has(c) || strings.IndexByte("$-_.+!*'(),:;@&=/~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}
