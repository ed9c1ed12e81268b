package eli

import (
	"cmp"
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

// languageCodes are the languages with a code of two letters (ISO 639-1), each followed
// by its code of three letters (ISO 639-3).
const languageCodes = `aaaar ababk aeave afafr akaka amamh anarg arara asasm avava ayaym azaze babak bebel bgbul bhbih bibis
	bmbam bnben bobod brbre bsbos cacat ceche chcha cocos crcre csces cuchu cvchv cycym dadan dedeu dvdiv dzdzo eeewe elell
	eneng eoepo esspa etest eueus fafas ffful fifin fjfij fofao frfra fyfry gagle gdgla glglg gngrn guguj gvglv hahau heheb
	hihin hohmo hrhrv hthat huhun hyhye hzher iaina idind ieile igibo iiiii ikipk ioido isisl itita iuiku jajpn jvjav kakat
	kgkon kikik kjkua kkkaz klkal kmkhm knkan kokor krkau kskas kukur kvkom kwcor kykir lalat lbltz lglug lilim lnlin lolao
	ltlit lulub lvlav mgmlg mhmah mimri mkmkd mlmal mnmon mrmar msmsa mtmlt mymya nanau nbnob ndnde nenep ngndo nlnld nnnno
	nonor nrnbl nvnav nynya ococi ojoji omorm orori ososs papan pipli plpol pspus ptpor quque rmroh rnrun roron rurus rwkin
	sasan scsrd sdsnd sesme sgsag shhbs sisin skslk slslv smsmo snsna sosom sqsqi srsrp ssssw stsot susun svswe swswa tatam
	tetel tgtgk ththa titir tktuk tltgl tntsn toton trtur tstso tttat twtwi tytah uguig ukukr ururd uzuzb veven vivie vovol
	wawln wowol xhxho yiyid yoyor zazha zhzho zuzul`

// bibliographic are the codes of three letters that ISO 639-2 has besides.
const bibliographic = "sqalb hyarm eubaq mybur zhchi cscze nldut frfre kageo deger elgre isice mkmac mimao msmay " +
	"faper rorum skslo botib cywel"

// countries are codes of countries that publishers write for their languages, each with
// the language. They are codes of languages, too, but of none that legislation is in.
var countries = map[string]string{
	"bgr": "bg", "dnk": "da", "esp": "es", "ltu": "lt", "lva": "lv", "prt": "pt", "rou": "ro", "svk": "sk", "svn": "sl",
}

// languages maps codes of three letters to those of two, and these to themselves.
// longCodes maps codes of two letters to those of ISO 639-3.
var languages, longCodes = newLanguages()

func newLanguages() (short, long map[string]string) {
	short, long = make(map[string]string), make(map[string]string)
	for _, pair := range strings.Fields(bibliographic + " " + languageCodes) {
		short[pair[:2]], short[pair[2:]], long[pair[:2]] = pair[:2], pair[:2], pair[2:]
	}
	return short, long
}

// languageTag returns the BCP 47 language tag for a code or a tag in any case, with
// underscores or hyphens; "" if it is none. A code of three letters becomes one of two if
// there is one.
func languageTag(code string) string {
	code = strings.ReplaceAll(strings.TrimSpace(code), "_", "-")
	primary, rest, hasRest := strings.Cut(code, "-")
	primary = strings.ToLower(primary)
	switch short := cmp.Or(languages[primary], countries[primary]); {
	case short != "":
		primary = short
	case len(primary) != 3:
		return ""
	}
	if !hasRest {
		if !isName(primary) {
			return ""
		}
		return primary
	}
	parts := strings.Split(strings.ToLower(rest), "-")
	for i, part := range parts {
		switch {
		case len(part) == 2 && (i == 0 || len(parts[i-1]) > 1): // a region
			parts[i] = strings.ToUpper(part)
		case len(part) == 4 && i == 0 && syntax.IsAlpha(part[0]): // a script
			parts[i] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	tag := primary + "-" + strings.Join(parts, "-")
	if syntax.LanguageFault(tag) != "" {
		return ""
	}
	return tag
}

// authorityLanguages is where the EU's table of languages has its URIs.
const authorityLanguages = "http://publications.europa.eu/resource/authority/language/"

// inTable returns the URI of the EU's table for a language tag.
func inTable(tag string) string {
	code, _, _ := strings.Cut(tag, "-")
	return authorityLanguages + strings.ToUpper(cmp.Or(longCodes[code], code))
}

// lastStep returns the last step of a URI's path, or what follows the number sign.
func lastStep(uri string) string {
	if at := strings.IndexByte(uri, '?'); at >= 0 {
		uri = uri[:at]
	}
	uri = strings.TrimRight(uri, "/#")
	return uri[strings.LastIndexAny(uri, "/#:")+1:]
}

// matchesLanguage reports whether a tag is in the wanted language or one of its
// varieties: fr-BE is in fr (RFC 4647 §3.3.1). Norwegian has two forms with tags of their
// own.
func matchesLanguage(tag, wanted string) bool {
	if w := languageTag(lastStep(wanted)); w != "" {
		wanted = w
	}
	if wanted == "no" && (matchesLanguage(tag, "nb") || matchesLanguage(tag, "nn")) {
		return true
	}
	return len(tag) >= len(wanted) && strings.EqualFold(tag[:len(wanted)], wanted) &&
		(len(tag) == len(wanted) || tag[len(wanted)] == '-')
}
