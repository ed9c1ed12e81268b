// Package s3blobs keeps long bodies in an object store with the API of Amazon S3, beside
// a Store that has no place of its own for them, such as that of package pgstore.
//
//	client, err := minio.New("s3.example.org", &minio.Options{Creds: …, Secure: true})
//	…
//	catalog.Blobs = s3blobs.New(client, "laws", "bodies/")
//
// The bucket must exist. Bodies up to the ChunkSize of the Catalog stay in its Store;
// each longer one is an object, which is written once, and removed by Vacuum when no
// record names it any more. What an upload that broke off has left is removed by Vacuum
// too, once its last part is older than the time of grace.
//
// A prefix belongs to one Store: Vacuum removes what is below it and not named there.
//
// An upload holds up to [Blobs].PartSize bytes in memory. An object has at most 10,000
// parts. To keep longer ones possible, parts grow by PartSize after each thousand: with
// the default, that is 16 MiB from 8 GB on, and 440 GB in all.
package s3blobs
