// Package fill lets tests fill a harvest.Catalog without a Source, with content that only
// the engine can commit.
package fill

import "context"

// Commit commits to a source of catalog, a *harvest.Catalog, all at once. Each of content
// is a string, the bytes of a body; a websync.Item or a harvest.Record, the new state
// of its resource, whose bodies are named by their SHA-256; or a harvest.Task. Package
// harvest sets it.
var Commit func(ctx context.Context, catalog any, source string, content ...any) error
