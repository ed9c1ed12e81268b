package websync

// Version is the version of this module. The module sends it in its User-Agent headers.
const Version = "0.1.0"
