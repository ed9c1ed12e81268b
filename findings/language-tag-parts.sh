#!/usr/bin/env bash
# npm's @phensley/language-tag makes zh of zh-yue, Cantonese, and drops all variants of a tag but the first.
#
# Library:  @phensley/language-tag 1.16.0, with bcp-47 2.1.2 as the other parser (npm)
# Guess:    compact() gives the tag back in the usual case, or the preferred tag: yue for zh-yue.
# Seen:     the extended language is left out, so that Cantonese, Gan and Mandarin are all zh, and American Sign Language is sgn,
#           "sign languages". Of several variants only the first is left. sgn-BE-FR, Belgian-French Sign Language, becomes
#           sgn-BE, though i-klingon and zh-min-nan become what the registry prefers. Nothing says that a part is lost.
# Output:   the lines of "want"
# Valid by: RFC 5646 section 2.2.2 (zh-yue and zh-gan; extlang), 2.2.5 (sl-rozaj-biske-1994, several variants), 2.2.8 (sgn-BE-FR,
#           grandfathered; it is sfb).
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @phensley/language-tag@1.16.0 bcp-47@2.1.2 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >tags.mjs <<'JS'
import phensley from "@phensley/language-tag";
import { parse, stringify } from "bcp-47";

for (const tag of ["sv-SE", "sv-x-lag", "zh-Hant-HK", "zh-yue-HK", "zh-gan", "zh-cmn-Hans-CN", "sgn-ase", "sl-rozaj-biske-1994",
	"ja-Latn-hepburn-heploc", "i-klingon", "zh-min-nan", "sgn-BE-FR"]) {
	console.log(`${tag}: ${phensley.parseLanguageTag(tag).compact()}, bcp-47: ${stringify(parse(tag))}`);
}
JS
node tags.mjs >got

cat >want <<'EOF'
sv-SE: sv-SE, bcp-47: sv-SE
sv-x-lag: sv-x-lag, bcp-47: sv-x-lag
zh-Hant-HK: zh-Hant-HK, bcp-47: zh-Hant-HK
zh-yue-HK: zh-HK, bcp-47: zh-yue-HK
zh-gan: zh, bcp-47: zh-gan
zh-cmn-Hans-CN: zh-Hans-CN, bcp-47: zh-cmn-Hans-CN
sgn-ase: sgn, bcp-47: sgn-ase
sl-rozaj-biske-1994: sl-rozaj, bcp-47: sl-rozaj-biske-1994
ja-Latn-hepburn-heploc: ja-Latn-hepburn, bcp-47: ja-Latn-hepburn-heploc
i-klingon: tlh, bcp-47: tlh
zh-min-nan: nan, bcp-47: nan
sgn-BE-FR: sgn-BE, bcp-47: sfb
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
