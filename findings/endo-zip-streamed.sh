#!/usr/bin/env bash
# npm's @endo/zip calls a ZIP file damaged if it was written as a stream, as Go's archive/zip writes each of its files.
#
# Library:  @endo/zip 1.1.0, with unzipit 2.1.1 and but-unzip 0.1.10 as other readers (npm); Go's archive/zip as the writer
# Guess:    all readers take sizes and checksums from the central directory, where they always are.
# Seen:     if an entry's sizes and checksum stand behind its data, @endo/zip compares the zero in front of the data with the
#           checksum of the directory, and says "integrity error", already for the list of entries. It reads the same entries if the
#           writer knew their sizes before.
# Output:   the lines of "want"
# Valid by: PKWARE APPNOTE 6.3.10 section 4.4.4, bit 3: the three fields of the local header are zero then, and the right values
#           are in the data descriptor (section 4.3.9) and in the central directory.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @endo/zip@1.1.0 unzipit@2.1.1 but-unzip@0.1.10 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >write.go <<'EOF'
package main

import (
	"archive/zip"
	"hash/crc32"
	"os"
)

func main() {
	for _, name := range []string{"streamed.zip", "known.zip"} {
		file, err := os.Create(name)
		check(err)
		writer := zip.NewWriter(file)
		for _, entry := range []string{"manifest.xml", "resources/1"} {
			text := []byte("the text of " + entry)
			header := &zip.FileHeader{Name: entry, CRC32: crc32.ChecksumIEEE(text)}
			header.CompressedSize64, header.UncompressedSize64 = uint64(len(text)), uint64(len(text))
			create := writer.CreateHeader
			if name == "known.zip" {
				create = writer.CreateRaw
			}
			w, err := create(header)
			check(err)
			_, err = w.Write(text)
			check(err)
		}
		check(writer.Close())
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
EOF
go run write.go

cat >read.mjs <<'JS'
import fs from "fs";
import { ZipReader } from "@endo/zip";
import { iter } from "but-unzip";
import { unzip } from "unzipit";

const text = (bytes) => new TextDecoder().decode(bytes);
const readers = {
	"@endo/zip": (bytes) => {
		const reader = new ZipReader(bytes);
		return [...reader.files.keys()].map((name) => text(reader.read(name)));
	},
	"unzipit": async (bytes) => Promise.all(Object.values((await unzip(bytes)).entries).map((entry) => entry.text())),
	"but-unzip": (bytes) => Promise.all([...iter(bytes)].map(async (entry) => text(await entry.read()))),
};
for (const file of ["known.zip", "streamed.zip"])
	for (const [name, read] of Object.entries(readers)) {
		let result;
		try {
			result = (await read(new Uint8Array(fs.readFileSync(file)))).join(", ");
		} catch (error) {
			result = error.message;
		}
		console.log(`${file} by ${name}: ${result}`);
	}
JS
node read.mjs >got

cat >want <<'EOF'
known.zip by @endo/zip: the text of manifest.xml, the text of resources/1
known.zip by unzipit: the text of manifest.xml, the text of resources/1
known.zip by but-unzip: the text of manifest.xml, the text of resources/1
streamed.zip by @endo/zip: Zip integrity error: Central record CRC-32 checksum 4145746217 must match local checksum 0 for file "manifest.xml" in archive "<unknown>"
streamed.zip by unzipit: the text of manifest.xml, the text of resources/1
streamed.zip by but-unzip: the text of manifest.xml, the text of resources/1
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
