// Package outgoing holds what requests to the servers of others have in common: the forms
// by which publishers, hubs and subscribers notify each other, how long to wait before a
// request is repeated, and how this module names itself.
package outgoing

import "github.com/websync-go/websync"

// Homepage is the address of the project.
const Homepage = "https://github.com/websync-go/websync"

// UserAgent is the User-Agent header of requests whose sender has set none.
const UserAgent = "websync/" + websync.Version + " (+" + Homepage + ")"
