package websync

// Version is the version of this module, as it is in the User-Agent headers that it
// sends.
const Version = "0.1"
