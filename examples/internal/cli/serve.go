package cli

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultAddr is the address of a server for which none is named.
const DefaultAddr = "localhost:8080"

// SiteFlags are the flags about where documents are served.
type SiteFlags struct{ Addr, Base string }

// Declare declares the flags.
func (f *SiteFlags) Declare(l *Line) {
	l.StringVar(&f.Addr, "addr", "", "")
	l.StringVar(&f.Base, "base", "", "")
}

// CheckAddr returns an error unless addr is HOST:PORT.
func CheckAddr(addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return errors.New("not HOST:PORT")
	}
	return nil
}

// StatusHosts returns the name in the address of a status page, which it may be asked for
// by.
func StatusHosts(addr string) []string {
	host, _, _ := net.SplitHostPort(addr)
	return []string{host}
}

// CheckBase returns the URL of a site, with a slash at its end.
func CheckBase(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("not a URL that begins with http:// or https://, without a query")
	}
	return strings.TrimSuffix(base, "/") + "/", nil
}

// BaseOf returns the URL of a server at addr.
func BaseOf(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr + "/"
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	if port == "80" {
		return "http://" + strings.Trim(net.JoinHostPort(host, ""), ":") + "/"
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}

// Listen listens at addr, and returns the URL of a server there. The port is the one that
// was chosen, if addr has port 0.
func Listen(ctx context.Context, addr string) (l net.Listener, base string, err error) {
	if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", addr); err != nil {
		return nil, "", err
	}
	host, _, _ := net.SplitHostPort(addr)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return l, BaseOf(net.JoinHostPort(host, port)), nil
}

// Serve answers requests until the context ends; answers in progress then have a few
// seconds to end. It closes the listener.
func Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	const patience = 5 * time.Second
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	if err := server.Shutdown(closing); err != nil {
		return server.Close() // somebody reads slowly
	}
	return nil
}
