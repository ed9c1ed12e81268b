package publish

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// hostileTexts are what a stranger may state as a media type, a coding, or a part of a
// link, to change the configuration of a server.
var hostileTexts = []string{
	"text/html\"; } server { listen 1; } #", "text/x\nadd_header X-Evil 1;", "text/x\r\nX-Evil: 1", "text/x;\x00", "text/ü", "a/b\\",
	"text/html; charset=\"${PATH}\"", "a/$document_root", `text/html; a="$$websync"`,
	`text/html; a="%{HTTP_HOST}e %s"`, `text/html; a=">"`,
	`text/html; a="\"; add_header X-Evil 1; #"`, `text/html; a="\r\nX-Evil: 1"`, `text/x; a="\\"`, "text/html; a=\"{}'`\"",
	"text/" + strings.Repeat("x", 5000), "</Location>", "multipart/x-mixed-replace",
}

// hostileNames are files that a site may have.
var hostileNames = []string{
	`/a"b;c{d}`, "/a b#c", "/$uri", "/${PATH}", "/%{HTTP_HOST}e", "/'x'", "/~^.*", "/default", "/x|y", "/[a-z]*", "/é日",
	"/a.b.c.html", "/x.html", "/y.html", "/z.html", "/Twin", "/twin", "/TWIN", "/d/", "/e", "/e/below",
	"/x.var", "/x.gz", "/x.html.de", "/x.cgi", "/x.shtml", "/x.php",
	"/quotes" + strings.Repeat(`"`, 200), "/long/" + strings.Repeat(strings.Repeat(`"`, 200)+"/", 10) + "x",
}

// hostileSite returns a site with all hostile names, types, codings and links.
func hostileSite() *site {
	s := newSite()
	for i, text := range hostileTexts {
		links := []websync.Link{
			{Rel: "a", Href: "https://example.org/" + text, Title: text, Type: text},
			{Rel: text, Href: "/x", Lang: text}, {Rel: "describedby", Href: "/x%20y"},
		}
		s.file(fmt.Sprintf("/r/%d~content", i), websync.Document{Type: text, Links: links}, "x")
		s.file(fmt.Sprintf("/r/%d.html", i), websync.Document{Type: "text/html; charset=utf-8", Encoding: text}, "x")
	}
	for i, name := range hostileNames {
		doc := websync.Document{Type: fmt.Sprintf("text/x-%d", i%7), Final: i%2 == 0}
		s.file(syntax.Escape(name, func(c byte) bool { return c == '/' || syntax.Segment.Has(c) }), doc, name)
	}
	s.file("/x.gzipped", websync.Document{Type: "text/html", Encoding: "gzip"}, "not checked")
	return s
}

// Servers of static files send the headers that a Handler sends, for what is hostile, too.
func TestServersSendTheHeaders(t *testing.T) {
	s := hostileSite()
	dir := t.TempDir()
	_, err := WriteDir(t.Context(), dir, s)
	require.NoError(t, err)
	handler := httptest.NewServer(newHandler(t, s))
	defer handler.Close()
	for name, serve := range map[string]func(t *testing.T, dir string) string{"nginx": serveNginx, "Apache": serveApache} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, dir)
			for path, err := range s.Documents(t.Context()) {
				require.NoError(t, err)
				got, want := headersAt(t, server+path), headersAt(t, handler.URL+path)
				doc, err := s.Document(t.Context(), path)
				require.NoError(t, err)
				set := headersOf(doc)
				for name, stated := range map[string]string{
					"Content-Type": set.contentType, "Content-Encoding": set.encoding, "Cache-Control": set.cache, "Link": set.links,
				} {
					if strings.HasPrefix(path, "/long/") && name != "Content-Encoding" {
						continue // longer than a configuration can state
					}
					assert.Equal(t, stated, strings.Join(got.Values(name), ", "), "%s of %.50s", name, path)
					if sent := strings.Join(want.Values(name), ", "); isConfigText(sent, maxTypeText) {
						assert.Equal(t, sent, stated, "%s of %.50s", name, path)
					}
				}
				for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options"} {
					assert.Equal(t, want.Values(name), got.Values(name), path)
				}
				for _, name := range []string{"X-Evil", "Location"} {
					assert.Empty(t, got.Values(name), path)
				}
			}
			for _, own := range []string{manifestFile, lockFile, nginxHTTP, apacheMap, "", "nothing"} {
				resp, err := http.Get(server + "/" + own)
				require.NoError(t, err)
				resp.Body.Close()
				assert.Contains(t, []int{403, 404}, resp.StatusCode, own)
			}
		})
	}
}

func headersAt(t *testing.T, url string) http.Header {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	r.Header.Set("Accept-Encoding", "identity")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode, "%.50s", url)
	return resp.Header
}

// serveNginx serves a directory with nginx until the test ends.
func serveNginx(t *testing.T, dir string) (url string) {
	addr, run := server(t, dir, "nginx")
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;"
	}
	conf := fmt.Sprintf(`%s worker_processes 1; pid %[2]s/pid; error_log %[2]s/log;
events { }
http {
	access_log off;
	client_body_temp_path %[2]s/t1; proxy_temp_path %[2]s/t2; fastcgi_temp_path %[2]s/t3;
	uwsgi_temp_path %[2]s/t4; scgi_temp_path %[2]s/t5;
	include %[3]s/.websync/nginx-hash.conf;
	include %[3]s/.websync/nginx-http.conf;
	server {
		listen %[4]s;
		root %[3]s;
		include %[3]s/.websync/nginx-server.conf;
	}
}
`, user, run, dir, addr)
	file := filepath.Join(run, "conf")
	require.NoError(t, os.WriteFile(file, []byte(conf), 0o600))
	start(t, "nginx", []string{"-c", file}, []string{"-c", file, "-s", "stop"})
	return "http://" + addr
}

// serveApache serves a directory with Apache until the test ends.
func serveApache(t *testing.T, dir string) (url string) {
	addr, run := server(t, dir, "apache2")
	var conf strings.Builder
	for _, module := range []string{"mpm_event", "authz_core", "dir", "mime", "negotiation", "headers", "rewrite"} {
		fmt.Fprintf(&conf, "LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n", module, module)
	}
	fmt.Fprintf(&conf, `ServerName localhost
Listen %[1]s
User www-data
Group www-data
PidFile %[2]s/pid
ErrorLog %[2]s/log
DefaultRuntimeDir %[2]s
TypesConfig /dev/null
AddEncoding x-gzip .gz
AddHandler type-map .var
DocumentRoot %[3]s
<Directory %[3]s>
	Require all granted
	AllowOverride None
</Directory>
Define WEBSYNC %[3]s
Include %[3]s/.websync/apache.conf
`, addr, run, dir)
	file := filepath.Join(run, "conf")
	require.NoError(t, os.WriteFile(file, []byte(conf.String()), 0o600))
	start(t, "apache2", []string{"-f", file, "-k", "start"}, []string{"-f", file, "-k", "stop"})
	return "http://" + addr
}

// server returns a free address, and a directory for the files of a server that serves dir.
// It skips the test if the program is missing.
func server(t *testing.T, dir, program string) (addr, run string) {
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(program + " must be there in CI")
		}
		t.Skipf("no %s: it does not serve the files", program)
	}
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // for the user of the server
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String(), t.TempDir()
}

// start starts a server, which returns when it listens, and stops it when the test ends.
func start(t *testing.T, program string, start, stop []string) {
	out, err := exec.CommandContext(t.Context(), program, start...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() {
		out, err := exec.Command(program, stop...).CombinedOutput()
		assert.NoError(t, err, "%s", out)
	})
}
