package s3blobs_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest/s3blobs"
)

// addressEnv names the server to the child processes of tests.
const addressEnv = "WEBSYNC_S3_ADDRESS"

const bucket = "bodies"

// address is that of the server that all tests share.
var address = os.Getenv(addressEnv)

func TestMain(m *testing.M) {
	if os.Getenv(leaveEnv) != "" {
		leave()
	}
	flag.Parse()
	stop := func() {}
	if !testing.Short() {
		stop = serve()
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

// serve starts a server, a process of its own, if its program is there.
func serve() (stop func()) {
	program, err := exec.LookPath("versitygw")
	if err != nil {
		return func() {}
	}
	dir, err := os.MkdirTemp("", "s3blobs")
	must(err)
	for _, sub := range []string{"objects", "sidecar"} {
		must(os.Mkdir(filepath.Join(dir, sub), 0o777))
	}
	for {
		at := freeAddress()
		cmd := exec.Command(program, "--access", "user", "--secret", "password", "--quiet", "--port", at,
			"posix", "--sidecar", filepath.Join(dir, "sidecar"), filepath.Join(dir, "objects"))
		must(cmd.Start())
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(ended)
		}()
		stop = func() {
			_ = cmd.Process.Kill()
			<-ended
			must(os.RemoveAll(dir))
		}
		if answers(at, ended) {
			address = at
			must(client().MakeBucket(context.Background(), bucket, minio.MakeBucketOptions{}))
			return stop
		}
	}
}

// freeAddress returns an address that nobody listens at; another program may be faster.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	defer l.Close()
	return l.Addr().String()
}

// answers waits until a server listens, and reports whether it has not ended instead.
func answers(at string, ended <-chan struct{}) bool {
	for {
		select {
		case <-ended:
			return false
		default:
		}
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			return true
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func client() *minio.Client {
	c, err := minio.New(address, &minio.Options{Creds: credentials.NewStaticV4("user", "password", "")})
	must(err)
	return c
}

var prefixes atomic.Int64

// newBlobs returns Blobs with a prefix of their own, and that.
func newBlobs(t testing.TB) (*s3blobs.Blobs, string) {
	switch {
	case testing.Short():
		t.Skip("with -short no S3 server is started")
	case address == "" && os.Getenv("CI") == "true":
		require.Fail(t, "the program versitygw, an S3 server, must be in the PATH")
	case address == "":
		t.Skip("needs the program versitygw, an S3 server, in the PATH")
	}
	prefix := fmt.Sprintf("%s/%d/", t.Name(), prefixes.Add(1))
	return blobsOf(prefix), prefix
}

// blobsOf returns the Blobs with a prefix, with a client of their own.
func blobsOf(prefix string) *s3blobs.Blobs {
	b := s3blobs.New(client(), bucket, prefix)
	b.PartSize = 5 << 20
	return b
}
