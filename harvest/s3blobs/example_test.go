package s3blobs_test

import (
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/s3blobs"
)

// The long bodies of a Catalog are kept in the bucket "laws". A Store that outlives its
// process comes from package pgstore instead.
func Example() {
	client, err := minio.New("s3.example.org", &minio.Options{
		Creds:  credentials.NewEnvAWS(), // AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
		Secure: true,
	})
	if err != nil {
		panic(err)
	}
	catalog := harvest.NewCatalog(memstore.New())
	catalog.Blobs = s3blobs.New(client, "laws", "bodies/")
}
