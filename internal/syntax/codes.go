package syntax

import "strings"

// languages are the codes of ISO 639-1, each between spaces.
const languages = " " +
	"aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo " +
	"es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg " +
	"ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn " +
	"no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta " +
	"te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu "

// scripts are the codes of ISO 15924.
const scripts = " " +
	"adlm afak aghb ahom arab aran armi armn avst bali bamu bass batk beng berf bhks blis bopo brah brai bugi buhd cakm " +
	"cans cari cham cher chis chrs cirt copt cpmn cprt cyrl cyrs deva diak dogr dsrt dupl egyd egyh egyp elba elym ethi " +
	"gara geok geor glag gong gonm goth gran grek gujr gukh guru hanb hang hani hano hans hant hatr hebr hira hluw hmng " +
	"hmnp hrkt hung inds ital jamo java jpan jurc kali kana kawi khar khmr khoj kitl kits knda kore kpel krai kthi lana " +
	"laoo latf latg latn leke lepc limb lina linb lisu loma lyci lydi mahj maka mand mani marc maya medf mend merc mero " +
	"mlym modi mong moon mroo mtei mult mymr nagm nand narb nbat newa nkdb nkgb nkoo nshu ogam olck onao orkh orya osge " +
	"osma ougr palm pauc pcun pelm perm phag phli phlp phlv phnx piqd plrd prti psin ranj rjng rohg roro runr samr sara " +
	"sarb saur sgnw shaw shrd shui sidd sidt sind sinh sogd sogo sora soyo sund sunu sylo syrc syre syrj syrn tagb takr " +
	"tale talu taml tang tavt tayo telu teng tfng tglg thaa thai tibt tirh tnsa todr tols toto tutg ugar vaii visp vith " +
	"wara wcho wole xpeo xsux yezi yiii zanb zinh zmth zsye zsym zxxx zyyy zzzz "

// countries are the officially assigned codes of ISO 3166-1.
const countries = " " +
	"ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs bt bv bw by bz ca cc " +
	"cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi fj fk fm fo fr ga gb gd " +
	"ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh " +
	"ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw " +
	"mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc " +
	"sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug um us uy " +
	"uz va vc ve vg vi vn vu wf ws ye yt za zm zw "

// IsLanguage reports whether a code, in any case, is one of ISO 639-1.
func IsLanguage(code string) bool { return isCode(languages, code, 2) }

// IsScript reports whether a code, in any case, is one of ISO 15924.
func IsScript(code string) bool { return isCode(scripts, code, 4) }

// IsCountry reports whether a code, in any case, is one of the two letters of ISO 3166-1.
func IsCountry(code string) bool { return isCode(countries, code, 2) }

func isCode(codes, code string, n int) bool {
	return len(code) == n && !strings.Contains(code, " ") && strings.Contains(codes, " "+strings.ToLower(code)+" ")
}

// LanguageMeant returns the language that is meant by a code that was withdrawn, or that
// is a country's; "" if none is known.
func LanguageMeant(code string) string { return meant(languagesMeant, code) }

// CountryMeant returns the country that is meant by a code that was withdrawn, or that is
// used elsewhere; "" if none is known.
func CountryMeant(code string) string { return strings.ToUpper(meant(countriesMeant, code)) }

// The first two letters are not a code, the last two are.
const (
	languagesMeant = " at:de cn:zh cz:cs dk:da gb:en gr:el in:id iw:he ji:yi jp:ja jw:jv kr:ko mo:ro ua:uk us:en "
	countriesMeant = " bu:mm dd:de el:gr fx:fr su:ru tp:tl uk:gb yd:ye yu:rs zr:cd "
)

func meant(codes, code string) string {
	i := strings.Index(codes, " "+strings.ToLower(code)+":")
	if i < 0 {
		return ""
	}
	return codes[i+4 : i+6]
}
