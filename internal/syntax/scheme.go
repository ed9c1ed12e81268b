package syntax

import "strings"

// schemes are the registered names of URI schemes (RFC 7595 §6): the permanent ones, and
// those that links of feeds have, as of 2026.
var schemes = strings.Fields(`
aaa aaas about acap acct cap cid coap coap+tcp coap+ws coaps coaps+tcp coaps+ws crid data dav dict dns dtn example file ftp
geo go gopher h323 http https iax icap im imap info ipn ipp ipps iris iris.beep iris.lwz iris.xpc iris.xpcs jabber ldap
leaptofrogans mailto mid msrp msrps mt mtqp mupdate news nfs ni nih nntp opaquelocktoken pkcs11 pop pres reload rtsp rtsps
rtspu service session shttp sieve sip sips sms snmp soap.beep soap.beeps stun stuns tag tel telnet tftp thismessage tip
tn3270 turn turns tv urn vemmi vnc ws wss xcon xcon-userid xmlrpc.beep xmlrpc.beeps xmpp z39.50r z39.50s
bitcoin content did doi ed2k facetime feed feedready fish git hcp ipfs ipns irc irc6 ircs itms magnet market matrix mms
mumble openpgp4fpr pack payto rtmp sftp skype soldat spotify ssh steam svn teamspeak vscode web3 webcal wifi
`)

// IsRegistered reports whether the scheme of an absolute URI is registered.
func IsRegistered[T Text](s T) bool {
	name := s[:Scheme(s)]
	for _, known := range schemes {
		if EqualFold(name, known) {
			return true
		}
	}
	return false
}
